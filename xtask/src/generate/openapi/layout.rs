//! Layout of documents: one definition or path per line, so that a change is one line of a diff.

use serde_json::{Value, json};

/// The value of a top-level member of a document.
pub(super) enum Section {
    /// A value on one line.
    Value(Value),
    /// One member per line.
    Lines(Vec<(String, Value)>),
    /// Sections inside a section.
    Nested(Vec<(&'static str, Section)>),
}

impl Section {
    /// A section with one line per member.
    pub(super) fn lines(members: impl IntoIterator<Item = (String, Value)>) -> Self {
        Self::Lines(members.into_iter().collect())
    }
}

/// Renders a document.
pub(super) fn document(sections: &[(&'static str, Section)]) -> String {
    let mut text = String::new();
    write_nested(&mut text, sections);
    text.push('\n');
    text
}

fn write_nested(text: &mut String, sections: &[(&'static str, Section)]) {
    write_members(
        text,
        sections.iter().map(|(name, section)| (*name, section)),
        |text, section| match section {
            Section::Value(value) => text.push_str(&value.to_string()),
            Section::Lines(members) => {
                let members = members.iter().map(|(name, value)| (name.as_str(), value));
                write_members(text, members, |text, value| text.push_str(&value.to_string()));
            }
            Section::Nested(sections) => write_nested(text, sections),
        },
    );
}

fn write_members<'a, T>(
    text: &mut String,
    members: impl Iterator<Item = (&'a str, T)>,
    mut write: impl FnMut(&mut String, T),
) {
    text.push('{');
    for (index, (name, value)) in members.enumerate() {
        text.push_str(if index == 0 { "\n" } else { ",\n" });
        text.push_str(&format!("{}:", Value::from(name)));
        write(text, value);
    }
    text.push_str("\n}");
}

/// Returns the document's title and version. Clients expect this title.
pub(super) fn info() -> Value {
    json!({"title": "Kubernetes", "version": "v1.36.0"})
}

/// Returns the security scheme.
pub(super) fn bearer_token() -> Value {
    json!({
        "description": "Bearer Token authentication",
        "type": "apiKey",
        "name": "authorization",
        "in": "header",
    })
}
