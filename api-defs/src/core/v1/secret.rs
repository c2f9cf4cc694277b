//! Confidential data.

use std::collections::BTreeMap;

use planesmith_machinery::Resource;
use planesmith_machinery::byte_string::ByteString;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::json;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::table::Cell;

use super::config_map::{MAX_DATA_BYTES, SEALED, check_key};
use crate::certificates::key_pair_complaint;

/// Type of secrets with arbitrary data.
const OPAQUE: &str = "Opaque";

/// Type of secrets with a certificate and its key.
const TLS: &str = "kubernetes.io/tls";
const TLS_CERTIFICATE: &str = "tls.crt";
const TLS_KEY: &str = "tls.key";

/// Annotation with the name of the service account that a token belongs to.
const ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";

/// Small confidential data such as a password, a token or a key. Base64 is no encryption: protect secrets by access
/// rules and by encryption at rest.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "", version = "v1", selectable("type"), strategy)]
#[resource(
    column(name),
    column(name = "Type", type = "string", doc = "Type of the secret.", path = "type"),
    column(name = "Data", type = "string", doc = "Number of keys.", with = data_cell),
    column(age)
)]
pub struct Secret {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// True to make the data and this field immutable; the object can then only be deleted.
    #[field(proto = 5)]
    pub immutable: Option<bool>,
    /// Base64-encoded confidential values by key. A key consists of letters, digits, '-', '_' and '.'.
    #[field(proto = 2)]
    pub data: BTreeMap<String, ByteString>,
    /// String values that are merged into data on write; they take precedence over data. Never returned.
    #[field(proto = 4)]
    pub string_data: BTreeMap<String, String>,
    /// Type of the secret, which determines its required keys. Immutable. Defaults to Opaque.
    #[field(name = "type", proto = 3, go_type = "SecretType")]
    pub type_: String,
}

fn data_cell(secret: &Secret) -> Cell {
    Cell::Integer(secret.data.len() as i64)
}

impl Strategy for Secret {
    fn set_defaults(&mut self) {
        if self.type_.is_empty() {
            OPAQUE.clone_into(&mut self.type_);
        }
        for (key, text) in std::mem::take(&mut self.string_data) {
            self.data.insert(key, ByteString::from(text.into_bytes()));
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        let mut size = 0;
        for (key, value) in &self.data {
            check_key(errors, "data", key);
            size += value.len() as u64;
        }
        if size > MAX_DATA_BYTES {
            errors.too_long("data", MAX_DATA_BYTES);
        }
        self.check_type(errors);
    }

    fn warnings_on_create(&self) -> Vec<String> {
        if self.type_ != TLS {
            return Vec::new();
        }
        let data = |key: &str| self.data.get(key).map_or(&[][..], |value| value);
        key_pair_complaint(data(TLS_CERTIFICATE), data(TLS_KEY))
            .into_iter()
            .collect()
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if self.type_ != old.type_ {
            errors.invalid("type", self.type_.as_str(), "field is immutable");
        }
        if old.immutable != Some(true) {
            return;
        }
        if self.immutable != Some(true) {
            errors.forbidden("immutable", SEALED);
        }
        if self.data != old.data {
            errors.forbidden("data", SEALED);
        }
    }
}

impl Secret {
    /// Reports keys that the type requires and that are missing or malformed.
    fn check_type(&self, errors: &mut FieldErrors) {
        let has = |key: &str| self.data.contains_key(key);
        match self.type_.as_str() {
            "kubernetes.io/service-account-token"
                if self.metadata.annotations.get(ACCOUNT_NAME).is_none_or(String::is_empty) =>
            {
                errors.at_key("metadata.annotations", ACCOUNT_NAME).required("", "");
            }
            "kubernetes.io/dockercfg" => self.check_json(".dockercfg", errors),
            "kubernetes.io/dockerconfigjson" => self.check_json(".dockerconfigjson", errors),
            "kubernetes.io/basic-auth" if !has("username") && !has("password") => {
                errors.at_key("data", "username").required("", "");
                errors.at_key("data", "password").required("", "");
            }
            "kubernetes.io/ssh-auth" if self.data.get("ssh-privatekey").is_none_or(|key| key.is_empty()) => {
                errors.at_key("data", "ssh-privatekey").required("", "");
            }
            TLS => {
                for key in [TLS_CERTIFICATE, TLS_KEY] {
                    if !has(key) {
                        errors.at_key("data", key).required("", "");
                    }
                }
            }
            _ => {}
        }
    }

    /// Reports that `key` is missing or not a JSON object, without its value.
    fn check_json(&self, key: &str, errors: &mut FieldErrors) {
        let mut errors = errors.at_key("data", key);
        match self.data.get(key) {
            None => errors.required("", ""),
            Some(value) => {
                if let Some(problem) = json_problem(value) {
                    errors.invalid("", "<secret contents redacted>", problem);
                }
            }
        }
    }
}

/// Returns the error of Go's decoder if `text` is not a JSON object; `None` if it is an object or null.
fn json_problem(text: &[u8]) -> Option<String> {
    use serde_json::Value;
    let found = match json::check_syntax(text) {
        Err(problem) => return Some(problem),
        Ok(()) => match serde_json::from_slice::<Value>(text).ok()? {
            Value::Object(_) | Value::Null => return None,
            Value::Array(_) => "array",
            Value::String(_) => "string",
            Value::Number(_) => "number",
            Value::Bool(_) => "bool",
        },
    };
    Some(format!(
        "json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
    ))
}
