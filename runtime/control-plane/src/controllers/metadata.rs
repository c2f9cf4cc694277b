//! The metadata of an object that controllers need, read from its stored bytes without the rest.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The finalizer of an owner that waits until its dependents are deleted.
pub(super) const FOREGROUND: &str = "foregroundDeletion";

/// The finalizer of an owner that waits until its dependents no longer name it.
pub(super) const ORPHAN: &str = "orphan";

/// The metadata that the collector reads of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Metadata {
    /// The UID of the object.
    pub(super) uid: String,
    /// True if its deletion has begun.
    pub(super) deleted: bool,
    /// The owners of the object.
    pub(super) owners: Vec<OwnerReference>,
    /// The finalizers that must be removed before the object is deleted.
    pub(super) finalizers: Vec<String>,
}

/// A reference to an owner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct OwnerReference {
    /// Version and group of the owner's kind.
    pub(super) api_version: String,
    /// The owner's kind.
    pub(super) kind: String,
    /// The owner's name.
    pub(super) name: String,
    /// The UID of the owner.
    pub(super) uid: String,
    /// True if the owner controls the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) controller: Option<bool>,
    /// True if an owner that is deleted in the foreground waits for the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) block_owner_deletion: Option<bool>,
}

impl Metadata {
    /// Reads the stored JSON of an object as far as necessary; fields that cannot be parsed are missing.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let mut metadata = Self::default();
        let mut json = serde_json::Deserializer::from_slice(bytes);
        // Returning an error stops the parser early.
        let _ = Part::Object(&mut metadata).deserialize(&mut json);
        metadata
    }

    /// Reads the metadata of an object whose fields are in any order.
    pub(super) fn from_object(object: &Value) -> Self {
        let metadata = &object["metadata"];
        let texts = |field: &str| Vec::<String>::deserialize(&metadata[field]).unwrap_or_default();
        Self {
            uid: metadata["uid"].as_str().unwrap_or_default().to_owned(),
            deleted: !metadata["deletionTimestamp"].is_null(),
            owners: Vec::deserialize(&metadata["ownerReferences"]).unwrap_or_default(),
            finalizers: texts("finalizers"),
        }
    }

    /// True if it has the finalizer.
    pub(super) fn is_held_by(&self, finalizer: &str) -> bool {
        self.finalizers.iter().any(|held| held == finalizer)
    }

    /// True if its deletion has begun and waits for its dependents.
    pub(super) fn waits_for_dependents(&self) -> bool {
        self.deleted && self.is_held_by(FOREGROUND)
    }
}

impl OwnerReference {
    /// True if the owner waits for the object when it is deleted in the foreground.
    pub(super) fn blocks(&self) -> bool {
        self.block_owner_deletion == Some(true)
    }
}

/// The part of the object that the reader is in.
enum Part<'m> {
    Object(&'m mut Metadata),
    Metadata(&'m mut Metadata),
}

impl<'de> DeserializeSeed<'de> for Part<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Part<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        match self {
            Part::Object(metadata) => {
                while let Some(key) = map.next_key::<String>()? {
                    if key == "metadata" {
                        return map.next_value_seed(Part::Metadata(metadata));
                    }
                    map.next_value::<IgnoredAny>()?;
                }
            }
            Part::Metadata(metadata) => {
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "uid" => metadata.uid = map.next_value()?,
                        "deletionTimestamp" => metadata.deleted = map.next_value::<Option<IgnoredAny>>()?.is_some(),
                        "ownerReferences" => metadata.owners = map.next_value::<Option<_>>()?.unwrap_or_default(),
                        "finalizers" => metadata.finalizers = map.next_value::<Option<_>>()?.unwrap_or_default(),
                        // The last field of metadata, and often the largest; but custom objects keep the order of
                        // their keys.
                        "managedFields" if !metadata.uid.is_empty() => return Ok(()),
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_read_up_to_what_follows_it() {
        let json = br#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","uid":"u1","labels":{"uid":"no"},
            "deletionTimestamp":"2026-01-02T03:04:05Z","ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"u2",
            "blockOwnerDeletion":true}],"finalizers":["orphan"],"managedFields":[{}]},"spec": not json"#;
        let metadata = Metadata::read(json);
        assert_eq!(metadata.uid, "u1");
        assert!(metadata.deleted && metadata.is_held_by(ORPHAN) && !metadata.waits_for_dependents());
        assert_eq!(metadata.owners[0].uid, "u2");
        assert!(metadata.owners[0].blocks());
    }

    #[test]
    fn fields_may_stand_in_any_order() {
        let object = serde_json::json!({"metadata": {"managedFields": [{}], "finalizers": ["orphan"], "uid": "u1",
            "ownerReferences": [{"uid": "u2", "kind": "Node"}], "deletionTimestamp": "2026-01-02T03:04:05Z"}});
        let metadata = Metadata::from_object(&object);
        assert!(metadata.deleted && metadata.is_held_by(ORPHAN));
        assert_eq!((metadata.uid.as_str(), metadata.owners[0].uid.as_str()), ("u1", "u2"));
        assert_eq!(Metadata::from_object(&serde_json::json!([])), Metadata::default());
    }

    #[test]
    fn custom_objects_have_their_keys_in_order() {
        let json = br#"{"apiVersion":"ex.com/v1","kind":"Foo","metadata":{"finalizers":["orphan"],"managedFields":[{}],"name":"a",
            "ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"u2"}],"uid":"u1"}}"#;
        let metadata = Metadata::read(json);
        assert!(metadata.is_held_by(ORPHAN));
        assert_eq!((metadata.uid.as_str(), metadata.owners[0].uid.as_str()), ("u1", "u2"));
    }

    #[test]
    fn a_value_without_an_object_has_no_metadata() {
        for bytes in [
            &b"[]"[..],
            b"",
            b"{\"metadata\":7}",
            b"{\"metadata\":{\"finalizers\":null}}",
        ] {
            assert_eq!(Metadata::read(bytes), Metadata::default());
        }
    }
}
