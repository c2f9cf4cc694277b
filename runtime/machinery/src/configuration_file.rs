//! Configuration files of a server: one versioned document in YAML or JSON, decoded strictly, as kube-apiserver does. A setting
//! that is written twice, or under a wrong name, is refused: it would not be the setting that its author sees.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::json::{self, Strictness};
use crate::yaml::{self, YamlError};

/// Length of the longest name that [`ConfigurationFileError::redacted`] quotes. The shortest key in base64 has 22 characters.
const MAX_QUOTED_NAME: usize = 20;

/// The reason that a configuration file is refused. Its text quotes names of fields, and no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigurationFileError {
    /// The content is no document.
    Syntax(YamlError),
    /// Fields that are written twice, each as its own message; in YAML or in JSON.
    Duplicates {
        /// The messages, such as `line 4: key "a" already set in map`.
        messages: Vec<String>,
        /// True if the document is in YAML.
        is_yaml: bool,
    },
    /// A document of another kind or version.
    Kind {
        /// The kind.
        kind: String,
        /// The version.
        version: String,
        /// The kind and the versions that are accepted.
        expected: String,
    },
    /// A field that the kind does not have.
    UnknownField {
        /// The name.
        name: String,
        /// The names in its place.
        expected: String,
    },
    /// A value of another type than its field has, or a missing field.
    Type(String),
}

impl ConfigurationFileError {
    /// The text without names that may be keys, for files with keys: a key that stands in a wrong place is read as a name.
    #[must_use]
    pub fn redacted(&self) -> String {
        self.render(MAX_QUOTED_NAME)
    }

    /// The text with names of at most `max_name` bytes.
    fn render(&self, max_name: usize) -> String {
        let name_of = |name: &str| match name.len() <= max_name {
            true => name.to_owned(),
            false => "REDACTED".to_owned(),
        };
        match self {
            Self::Syntax(error) if max_name == usize::MAX => error.to_string(),
            Self::Syntax(error) => error.unquoted().to_owned(),
            Self::Duplicates { messages, is_yaml } => {
                let messages: Vec<String> = messages
                    .iter()
                    .map(|message| match (message.find('"'), message.rfind('"')) {
                        (Some(start), Some(end)) if start < end => {
                            // In JSON it is the path of the field.
                            let names: Vec<String> = message[start + 1..end].split('.').map(name_of).collect();
                            format!("{}{}{}", &message[..=start], names.join("."), &message[end..])
                        }
                        // A number or a truth value as the name.
                        _ => message.clone(),
                    })
                    .collect();
                match is_yaml {
                    true => format!(
                        "strict decoding error: yaml: unmarshal errors:\n  {}",
                        messages.join("\n  ")
                    ),
                    false => format!("strict decoding error: {}", messages.join(", ")),
                }
            }
            Self::Kind {
                kind,
                version,
                expected,
            } => format!("no kind {kind:?} is registered for version {version:?}; expected {expected}"),
            Self::UnknownField { name, expected } => {
                format!("strict decoding error: unknown field `{}`{expected}", name_of(name))
            }
            Self::Type(problem) => format!("strict decoding error: {problem}"),
        }
    }

    /// Returns the error without the value that the text of `error` quotes.
    fn of_decoding(error: &serde_json::Error) -> Self {
        let text = error.to_string();
        let (problem, expected) = match text
            .rfind(", expected ")
            .or_else(|| text.rfind(", there are no fields"))
        {
            Some(at) => text.split_at(at),
            None => (text.as_str(), ""),
        };
        if let Some(name) = problem.strip_prefix("unknown field `") {
            return Self::UnknownField {
                name: name.strip_suffix('`').unwrap_or(name).to_owned(),
                expected: expected.to_owned(),
            };
        }
        // The value follows its type: `invalid type: string "value", expected a sequence`.
        let has_value = problem.starts_with("invalid ") || problem.starts_with("unknown variant");
        let end = problem.find(['"', '`']).filter(|_| has_value).unwrap_or(problem.len());
        Self::Type(format!("{}{expected}", problem[..end].trim_end()))
    }
}

impl fmt::Display for ConfigurationFileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.render(usize::MAX))
    }
}

impl std::error::Error for ConfigurationFileError {}

/// Returns the document of a file.
///
/// # Errors
///
/// The content is neither YAML nor JSON, or has a field twice.
pub fn document(content: &[u8]) -> Result<Value, ConfigurationFileError> {
    let is_json = content.trim_ascii_start().starts_with(b"{");
    // A mapping in braces that is no JSON may be YAML.
    if is_json && let Ok((document, findings)) = json::parse_value(content, Strictness::Strict) {
        return match findings.is_empty() {
            true => Ok(document),
            false => Err(ConfigurationFileError::Duplicates {
                messages: findings.messages().to_vec(),
                is_yaml: false,
            }),
        };
    }
    let yaml = yaml::to_json(content).map_err(ConfigurationFileError::Syntax)?;
    if !yaml.duplicates.is_empty() {
        return Err(ConfigurationFileError::Duplicates {
            messages: yaml.duplicates,
            is_yaml: true,
        });
    }
    serde_json::from_slice(&yaml.json).map_err(|error| ConfigurationFileError::of_decoding(&error))
}

/// Returns a document of `kind` in one of `versions` as a `T`, which has no fields for kind and version and refuses unknown
/// fields (`deny_unknown_fields`).
///
/// # Errors
///
/// The document has another kind or version, an unknown field, or a value of another type.
pub fn decode<T: DeserializeOwned>(
    mut document: Value,
    kind: &str,
    versions: &[&str],
) -> Result<T, ConfigurationFileError> {
    let text = |field: &str| document.get(field).and_then(Value::as_str).unwrap_or_default();
    if text("kind") != kind || !versions.contains(&text("apiVersion")) {
        return Err(ConfigurationFileError::Kind {
            kind: text("kind").to_owned(),
            version: text("apiVersion").to_owned(),
            expected: format!("{kind} of {}", versions.join(" or ")),
        });
    }
    if let Some(fields) = document.as_object_mut() {
        fields.remove("kind");
        fields.remove("apiVersion");
    }
    serde_json::from_value(document).map_err(|error| ConfigurationFileError::of_decoding(&error))
}

/// Returns the content of a file as a `T`, by way of [`document`] and [`decode`].
///
/// # Errors
///
/// As both of them.
pub fn parse<T: DeserializeOwned>(content: &[u8], kind: &str, versions: &[&str]) -> Result<T, ConfigurationFileError> {
    decode(document(content)?, kind, versions)
}

/// Reads `null` as the default, as Go does; for `#[serde(deserialize_with)]`.
///
/// # Errors
///
/// The value is no `T`.
pub fn or_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Default,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests;
