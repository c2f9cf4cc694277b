//! The body of an apply request.

use std::sync::Arc;

use planesmith_machinery::group_version::GroupVersion;
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::meta::ManagedFieldsEntry;
use planesmith_machinery::status::ApiError;
use serde_json::Value;

use planesmith_dynamic::unstructured;
use planesmith_wire::yaml;

/// A document to be applied, as YAML or JSON.
#[derive(Clone, Debug)]
pub struct Sent {
    /// The document; an object.
    pub document: Arc<Value>,
    duplicates: Vec<String>,
}

impl Sent {
    /// Reads a document. An empty body counts as an empty object.
    ///
    /// # Errors
    ///
    /// 400 if the body is malformed or not an object.
    pub fn read(body: &[u8]) -> Result<Self, ApiError> {
        if let Some(document) = plain_json(body) {
            return Ok(Self {
                document: Arc::new(document),
                duplicates: Vec::new(),
            });
        }
        let refuse = |why: &dyn std::fmt::Display| ApiError::bad_request(format!("error decoding YAML: {why}"));
        let yaml = yaml::to_json(body).map_err(|why| refuse(&format_args!("error converting YAML to JSON: {why}")))?;
        let (document, _) = json::parse_value(&yaml.json, Strictness::Lenient).map_err(|why| refuse(&why))?;
        let document = match document {
            document @ Value::Object(_) => document,
            Value::Null => Value::Object(serde_json::Map::new()),
            other => {
                let kind = json::name_of(&other);
                return Err(refuse(&format_args!(
                    "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
                )));
            }
        };
        Ok(Self {
            document: Arc::new(document),
            duplicates: yaml.duplicates,
        })
    }

    /// Checks that the document has the expected kind and contains no managed fields.
    ///
    /// # Errors
    ///
    /// 400 if one of the two checks fails.
    pub fn check(&self, api_version: &str, kind: &str) -> Result<(), ApiError> {
        if GroupVersion::canonical(self.text("apiVersion")) != api_version || self.text("kind") != kind {
            return Err(ApiError::bad_request(format!("invalid object type: {}", self.kind())));
        }
        match self.document.pointer("/metadata/managedFields") {
            Some(Value::Array(entries)) if entries.iter().all(is_entry) => {
                Err(ApiError::bad_request("metadata.managedFields must be nil"))
            }
            // A value that is not a list of entries counts as absent.
            _ => Ok(()),
        }
    }

    /// Returns the name of the document for errors: its namespace, name and kind.
    #[must_use]
    pub fn subject(&self) -> String {
        subject(&self.document)
    }

    /// The findings of strict reading: each duplicate key, as the text of a warning.
    #[must_use]
    pub fn duplicates(&self) -> &[String] {
        &self.duplicates
    }

    /// Returns 400 if the document has duplicate keys, for strict validation; otherwise `None`.
    #[must_use]
    pub fn refuse_strictly(&self) -> Option<ApiError> {
        (!self.duplicates.is_empty()).then(|| {
            ApiError::bad_request(format!(
                "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  {}",
                self.duplicates.join("\n  ")
            ))
        })
    }

    fn text(&self, field: &str) -> &str {
        text(&self.document, field)
    }

    /// Returns version and kind for errors, e.g. `apps/v1, Kind=Deployment`.
    #[must_use]
    pub fn kind(&self) -> String {
        kind(&self.document)
    }
}

/// Returns the name of an object for errors: its namespace, name and kind.
pub(super) fn subject(document: &Value) -> String {
    let metadata = |name: &str| {
        let metadata = document.get("metadata");
        metadata.map_or("", |metadata| text(metadata, name))
    };
    format!("{}/{}; {}", metadata("namespace"), metadata("name"), kind(document))
}

fn kind(document: &Value) -> String {
    match GroupVersion::parse(text(document, "apiVersion")) {
        Ok(version) => format!("{}/{}, Kind={}", version.group, version.version, text(document, "kind")),
        Err(_) => "/, Kind=".to_owned(),
    }
}

fn text<'d>(object: &'d Value, field: &str) -> &'d str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn is_entry(value: &Value) -> bool {
    value.is_object() && unstructured::read(value, &mut ManagedFieldsEntry::default()).is_ok()
}

/// Returns the object in a body that is JSON with the same meaning as YAML. Most bodies are, and a YAML parser takes
/// several times as long. `None` if the two could differ, or if there are findings to report.
fn plain_json(body: &[u8]) -> Option<Value> {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\r');
    let is_special = |pair: &[u8]| pair == b"\\u" || pair == b"<<";
    if body.first() != Some(&b'{') || !body.iter().all(is_plain) || body.windows(2).any(is_special) {
        return None;
    }
    let (mut document, findings) = json::parse_value(body, Strictness::Strict).ok()?;
    make_whole(&mut document);
    findings.is_empty().then_some(document)
}

/// Converts whole floating point numbers to integers, because YAML does not distinguish `1.0` from `1`.
fn make_whole(value: &mut Value) {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    match value {
        Value::Number(number) if number.is_f64() => {
            let exact = number
                .as_f64()
                .filter(|number| number.fract() == 0.0 && number.abs() < LIMIT);
            if let Some(exact) = exact {
                #[expect(clippy::cast_possible_truncation, reason = "it is whole, and in range")]
                let whole = exact as i64;
                *value = Value::from(whole);
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(make_whole),
        Value::Object(entries) => entries.values_mut().for_each(make_whole),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_that_stands_twice_is_noticed_on_its_own() {
        let sent = Sent::read(b"data:\n  a: 1\n  a: 2\n  b: 1\n  b: 2\n").expect("YAML");
        let noticed = [
            r#"line 3: key "a" already set in map"#,
            r#"line 5: key "b" already set in map"#,
        ];
        assert_eq!(sent.duplicates(), noticed);
        let refused = sent.refuse_strictly().expect("refused");
        assert_eq!(
            refused.message(),
            format!(
                "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  {}\n  {}",
                noticed[0], noticed[1]
            )
        );
        assert_eq!(Sent::read(b"a: 1").expect("YAML").refuse_strictly(), None);
    }

    #[test]
    fn json_reads_as_the_same_as_yaml() {
        for text in [
            r#"{"a":1,"b":{"c":[true,null,"x\/y\n"]},"d":-1.5e3,"e":[1.0,2.5,1e30,-0.0]}"#,
            "{\n  \"a\": {}\r\n}",
        ] {
            let read = plain_json(text.as_bytes());
            let yaml = yaml::to_json(text.as_bytes()).expect("YAML");
            let (yaml, _) = json::parse_value(&yaml.json, Strictness::Lenient).expect("JSON");
            assert_eq!(read, Some(yaml), "{text}");
        }
        for text in [
            "a: 1",
            r#"{"a":1,"a":2}"#,
            r#"{"<<":{"a":1}}"#,
            "{\"a\":\t1}",
            r#"{"a":"\u0041"}"#,
            "{a: 1}",
            "{\"a\":\"\u{7f}\"}",
        ] {
            assert_eq!(plain_json(text.as_bytes()), None, "{text}");
        }
    }
}
