//! Field selectors: `metadata.name=a,status.phase!=Running`.

use std::fmt;

use crate::resource::ResourceFacts;
use crate::status::ApiError;

/// A conjunction of terms; a query without terms matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldQuery {
    terms: Vec<FieldTerm>,
}

/// A required or excluded value of one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldTerm {
    /// Dotted path, e.g. `metadata.name`.
    pub field: String,
    /// Value that the field is compared with; an absent field counts as empty.
    pub value: String,
    /// True if the field must differ from the value.
    pub negated: bool,
}

/// The reason for which a field selector is invalid, in kube-apiserver's wording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldSelectorError {
    /// A term without an operator.
    #[error("invalid selector: '{selector}'; can't understand '{term}'")]
    Term {
        /// The whole selector.
        selector: String,
        /// The term.
        term: String,
    },
    /// A backslash before a character that needs no escape.
    #[error("invalid field selector: invalid escape sequence: {0}")]
    Escape(String),
    /// An unescaped character, such as `=`, in a value.
    #[error("invalid field selector: unescaped character in value: {}", u32::from(*.0))]
    Unescaped(char),
    /// A field that is not selectable for the kind.
    #[error("{0}")]
    NotSelectable(String),
}

impl FieldQuery {
    /// Parses the text form. Terms are sorted; empty ones are skipped.
    ///
    /// # Errors
    ///
    /// If the text is not a selector. Clients see 400.
    pub fn parse(text: &str) -> Result<Self, FieldSelectorError> {
        let mut parts = split_terms(text);
        parts.sort_unstable();
        let terms = parts.into_iter().filter(|part| !part.is_empty()).map(|part| {
            let unreadable = || FieldSelectorError::Term {
                selector: text.to_owned(),
                term: part.to_owned(),
            };
            let (field, negated, value) = split_term(part).ok_or_else(unreadable)?;
            Ok(FieldTerm {
                field: field.to_owned(),
                value: unescape(value)?,
                negated,
            })
        });
        Ok(Self {
            terms: terms.collect::<Result<_, _>>()?,
        })
    }

    /// Parses the text form of a selector on objects of a kind.
    ///
    /// # Errors
    ///
    /// If the text is not a selector, or contains a field that is not selectable for the kind.
    pub fn parse_for(text: &str, kind: &ResourceFacts) -> Result<Self, FieldSelectorError> {
        let query = Self::parse(text)?;
        for term in &query.terms {
            if let Some(refusal) = kind.field_refusal(&term.field) {
                return Err(FieldSelectorError::NotSelectable(refusal));
            }
        }
        Ok(query)
    }

    /// Returns the query that requires all of `terms`.
    #[must_use]
    pub fn new(terms: Vec<FieldTerm>) -> Self {
        Self { terms }
    }

    /// True if the query matches everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the terms.
    #[must_use]
    pub fn terms(&self) -> &[FieldTerm] {
        &self.terms
    }

    /// Returns the required value of a field; `None` if no single value is required.
    #[must_use]
    pub fn exact(&self, field: &str) -> Option<&str> {
        let term = self.terms.iter().find(|term| term.field == field && !term.negated)?;
        Some(&term.value)
    }

    /// True if the fields meet all terms. `field` looks up the value of a path; an absent value counts as empty.
    pub fn matches<'a>(&self, field: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.terms
            .iter()
            .all(|term| (field(&term.field).unwrap_or("") == term.value) != term.negated)
    }
}

/// Splits at commas that no backslash precedes.
fn split_terms(text: &str) -> Vec<&str> {
    let (mut terms, mut start, mut escaped) = (Vec::new(), 0, false);
    for (index, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == ',' {
            terms.push(&text[start..index]);
            start = index + 1;
        }
    }
    terms.push(&text[start..]);
    terms
}

/// Splits a term at the first operator into the field, a flag that is true for `!=`, and the value.
fn split_term(term: &str) -> Option<(&str, bool, &str)> {
    let at = term.find('=')?;
    if at > 0 && term.as_bytes()[at - 1] == b'!' {
        return Some((&term[..at - 1], true, &term[at + 1..]));
    }
    let value = &term[at + 1..];
    Some((&term[..at], false, value.strip_prefix('=').unwrap_or(value)))
}

fn unescape(value: &str) -> Result<String, FieldSelectorError> {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('\\' | ',' | '=')) => out.push(c),
                Some(c) => return Err(FieldSelectorError::Escape(format!("\\{c}"))),
                None => return Err(FieldSelectorError::Escape("\\".to_owned())),
            },
            ',' | '=' => return Err(FieldSelectorError::Unescaped(c)),
            c => out.push(c),
        }
    }
    Ok(out)
}

/// The text form; parsing it returns the same query if the terms are sorted.
impl fmt::Display for FieldQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, term) in self.terms.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let operator = if term.negated { "!=" } else { "=" };
            write!(f, "{comma}{}{operator}", term.field)?;
            for c in term.value.chars() {
                if matches!(c, '\\' | ',' | '=') {
                    f.write_str("\\")?;
                }
                write!(f, "{c}")?;
            }
        }
        Ok(())
    }
}

impl From<FieldSelectorError> for ApiError {
    fn from(error: FieldSelectorError) -> Self {
        ApiError::bad_request(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::*;

    fn complaint(text: &str) -> String {
        FieldQuery::parse(text).expect_err(text).to_string()
    }

    #[test]
    fn terms_are_compared_with_fields() {
        let query = FieldQuery::parse("metadata.name=a,status.phase!=Running").expect("legal");
        let fields = |phase: &'static str| {
            move |field: &str| match field {
                "metadata.name" => Some("a"),
                "status.phase" => Some(phase),
                _ => None,
            }
        };
        assert!(query.matches(fields("Pending")));
        assert!(!query.matches(fields("Running")));
        assert!(FieldQuery::parse("spec.none=").expect("legal").matches(|_| None));
        assert_eq!(query.exact("metadata.name"), Some("a"));
        assert_eq!(query.exact("status.phase"), None);
        assert_eq!(query.to_string(), "metadata.name=a,status.phase!=Running");
    }

    #[test]
    fn complaints_are_those_of_the_reference() {
        assert_eq!(
            complaint("metadata.name"),
            "invalid selector: 'metadata.name'; can't understand 'metadata.name'"
        );
        assert_eq!(
            complaint("a=b\\x"),
            "invalid field selector: invalid escape sequence: \\x"
        );
        assert_eq!(
            complaint("a=b\\"),
            "invalid field selector: invalid escape sequence: \\"
        );
        assert_eq!(
            complaint("a=b=c"),
            "invalid field selector: unescaped character in value: 61"
        );
    }

    proptest! {
        #[test]
        fn any_value_survives_escaping(value in any::<String>(), negated in any::<bool>()) {
            let query = FieldQuery::new(vec![FieldTerm { field: "spec.x".to_owned(), value, negated }]);
            prop_assert_eq!(FieldQuery::parse(&query.to_string()), Ok(query));
        }

        #[test]
        fn any_text_is_parsed_or_refused(text in any::<String>()) {
            let _ = FieldQuery::parse(&text);
        }
    }
}
