//! Configuration data.

use std::collections::BTreeMap;

use planesmith_machinery::Resource;
use planesmith_machinery::byte_string::ByteString;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::names;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::table::Cell;

/// Maximum total size of an object's values in bytes.
pub(super) const MAX_DATA_BYTES: u64 = 1024 * 1024;

/// Error text of a change to an object that is marked as immutable.
pub(super) const SEALED: &str = "field is immutable when `immutable` is set";

/// Configuration data that programs read as files, as environment variables or through the API. Not for confidential
/// data.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "", version = "v1", short("cm"), strategy)]
#[resource(column(name), column(name = "Data", type = "string", doc = "Number of keys.", with = data_cell), column(age))]
pub struct ConfigMap {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// True to make the data and this field immutable; the object can then only be deleted. Nodes need not watch
    /// immutable objects, which reduces load.
    #[field(proto = 4)]
    pub immutable: Option<bool>,
    /// String values by key. A key consists of letters, digits, '-', '_' and '.', and must not be in binaryData, too.
    #[field(proto = 2)]
    pub data: BTreeMap<String, String>,
    /// Base64-encoded values, which need not be valid UTF-8. The rules for keys of data apply.
    #[field(proto = 3)]
    pub binary_data: BTreeMap<String, ByteString>,
}

fn data_cell(map: &ConfigMap) -> Cell {
    Cell::Integer((map.data.len() + map.binary_data.len()) as i64)
}

/// Reports errors in `key` of the map `field`, which must be usable as a file name.
pub(super) fn check_key(errors: &mut FieldErrors, field: &str, key: &str) {
    for problem in names::config_key(key) {
        errors.at_key(field, key).invalid("", key, problem);
    }
}

impl Strategy for ConfigMap {
    fn validate(&self, errors: &mut FieldErrors) {
        let mut size = 0;
        for (key, value) in &self.data {
            check_key(errors, "data", key);
            if self.binary_data.contains_key(key) {
                errors
                    .at_key("data", key)
                    .invalid("", key.as_str(), "duplicate of key present in binaryData");
            }
            size += value.len() as u64;
        }
        for (key, value) in &self.binary_data {
            check_key(errors, "binaryData", key);
            size += value.len() as u64;
        }
        if size > MAX_DATA_BYTES {
            // As in kube-apiserver, the error has the path of the whole object.
            errors.too_long("[]", MAX_DATA_BYTES);
        }
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if old.immutable != Some(true) {
            return;
        }
        if self.immutable != Some(true) {
            errors.forbidden("immutable", SEALED);
        }
        if self.data != old.data {
            errors.forbidden("data", SEALED);
        }
        if self.binary_data != old.binary_data {
            errors.forbidden("binaryData", SEALED);
        }
    }
}
