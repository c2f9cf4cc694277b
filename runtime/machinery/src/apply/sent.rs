//! What an applier sends.

use serde_json::Value;

use crate::group_version::GroupVersion;
use crate::json::{self, Strictness};
use crate::status::ApiError;
use crate::yaml;

/// A document to be applied, as YAML or JSON.
#[derive(Clone, Debug)]
pub struct Sent {
    /// The document; an object.
    pub document: Value,
    duplicates: Vec<String>,
}

impl Sent {
    /// Reads a document. Nothing at all counts as an empty object.
    ///
    /// # Errors
    ///
    /// 400 when it cannot be read, or is no object.
    pub fn read(body: &[u8]) -> Result<Self, ApiError> {
        let refuse = |why: &dyn std::fmt::Display| ApiError::bad_request(format!("error decoding YAML: {why}"));
        let yaml = yaml::to_json(body).map_err(|why| refuse(&format_args!("error converting YAML to JSON: {why}")))?;
        let (document, _) = json::parse_value(&yaml.json, Strictness::Lenient).map_err(|why| refuse(&why))?;
        let document = match document {
            Value::Object(entries) => Value::Object(entries),
            Value::Null => Value::Object(serde_json::Map::new()),
            other => {
                let kind = json::name_of(&other);
                return Err(refuse(&format_args!(
                    "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
                )));
            }
        };
        Ok(Self {
            document,
            duplicates: yaml.duplicates,
        })
    }

    /// Checks that the document is of a kind, and leaves to the server who manages what.
    ///
    /// # Errors
    ///
    /// 400 when it is not, or does not.
    pub fn check(&self, api_version: &str, kind: &str) -> Result<(), ApiError> {
        if self.text("apiVersion") != api_version || self.text("kind") != kind {
            return Err(ApiError::bad_request(format!("invalid object type: {}", self.kind())));
        }
        match self.document.pointer("/metadata/managedFields") {
            None | Some(Value::Null) => Ok(()),
            Some(_) => Err(ApiError::bad_request("metadata.managedFields must be nil")),
        }
    }

    /// What errors call the document: its namespace, name and kind.
    #[must_use]
    pub fn subject(&self) -> String {
        let metadata = |name: &str| {
            let value = self.document.get("metadata").and_then(|metadata| metadata.get(name));
            value.and_then(Value::as_str).unwrap_or_default()
        };
        format!("{}/{}; {}", metadata("namespace"), metadata("name"), self.kind())
    }

    /// What strict reading noticed, as a warning; `None` when it noticed nothing.
    #[must_use]
    pub fn finding(&self) -> Option<String> {
        (!self.duplicates.is_empty()).then(|| {
            format!(
                "error converting YAML to JSON: yaml: unmarshal errors:\n  {}",
                self.duplicates.join("\n  ")
            )
        })
    }

    fn text(&self, field: &str) -> &str {
        self.document.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    fn kind(&self) -> String {
        match GroupVersion::parse(self.text("apiVersion")) {
            Ok(version) => format!("{}/{}, Kind={}", version.group, version.version, self.text("kind")),
            Err(_) => "/, Kind=".to_owned(),
        }
    }
}
