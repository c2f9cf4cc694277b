//! The keywords of a schema, each of which is consumed or marked.

use std::collections::BTreeMap;

use serde_json::Value;

/// The keywords of an object that are not consumed yet.
pub(crate) struct Words<'s> {
    left: BTreeMap<&'s str, &'s Value>,
}

impl<'s> Words<'s> {
    pub(crate) fn from_object(object: &'s Value) -> Self {
        let members = object.as_object().into_iter().flatten();
        Self {
            left: members.map(|(word, value)| (word.as_str(), value)).collect(),
        }
    }

    /// Returns the value of a keyword; `null` if it is absent.
    pub(crate) fn peek(&self, word: &str) -> &'s Value {
        self.left.get(word).copied().unwrap_or(&Value::Null)
    }

    /// Like [`Words::peek`], and consumes the keyword.
    pub(crate) fn take(&mut self, word: &str) -> &'s Value {
        self.left.remove(word).unwrap_or(&Value::Null)
    }

    /// Consumes a keyword if `read` accepts its value; otherwise it will be marked.
    pub(crate) fn take_as<T>(&mut self, word: &str, read: impl FnOnce(&'s Value) -> Option<T>) -> Option<T> {
        let read = read(self.peek(word))?;
        self.left.remove(word);
        Some(read)
    }

    /// Consumes a keyword if its value is `value`.
    pub(crate) fn take_if(&mut self, word: &str, value: &Value) -> bool {
        self.take_as(word, |said| (said == value).then_some(())).is_some()
    }

    /// Returns marks for all remaining keywords.
    pub(crate) fn marks(self) -> Vec<String> {
        self.left
            .into_iter()
            .flat_map(|(word, value)| marks(word, value))
            .collect()
    }
}

fn marks(word: &str, value: &Value) -> Vec<String> {
    match (word, value) {
        // Without effect.
        (word, Value::Null | Value::Bool(false)) if word != "default" => Vec::new(),
        ("x-kubernetes-validations", Value::Array(rules)) => rules.iter().map(rule).collect(),
        ("oneOf" | "anyOf" | "allOf" | "not", value) => {
            vec![format!("{word} `{value}`: write it in `Strategy::validate`")]
        }
        ("nullable", _) => vec!["nullable: `null` is a value there; here it counts as absent".to_owned()],
        ("x-kubernetes-preserve-unknown-fields", _) => {
            vec![format!(
                "{word}: fields beside these are kept there; here they are dropped, so declare them"
            )]
        }
        ("x-kubernetes-embedded-resource", _) => {
            vec![format!(
                "{word}: an object with apiVersion, kind and metadata; check them in `Strategy::validate`"
            )]
        }
        _ => vec![format!(
            "{word} `{value}`: no attribute says this; write it in `Strategy::validate` if it matters"
        )],
    }
}

fn rule(rule: &Value) -> String {
    let text = rule["rule"].as_str().unwrap_or_default();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let others: Vec<String> = rule
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(word, _)| *word != "rule")
        .map(|(word, value)| format!("{word} {value}"))
        .collect();
    let others = match others.is_empty() {
        true => String::new(),
        false => format!(" ({})", others.join(", ")),
    };
    format!("rule `{text}`{others}: write it in `Strategy::validate`")
}
