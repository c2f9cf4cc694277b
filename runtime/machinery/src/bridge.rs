//! The bridge to serde, for formats of other crates.
//!
//! The derives forward to this module; the codecs of this crate do not use serde.

/// The serde whose traits the derives implement, so that crates with kinds need not depend on it.
pub use serde;

use serde::de::Error as _;
use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json::{self, Strictness};
use crate::value::{List, Map, Struct, View};

/// Serializes `object` as its JSON form: the same names, order and omissions.
///
/// # Errors
///
/// Those of the serializer.
pub fn serialize<S: Serializer>(object: &dyn Struct, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    if let Some(meta) = object.type_meta() {
        map.serialize_entry("kind", meta.kind)?;
        map.serialize_entry("apiVersion", meta.api_version)?;
    }
    fields(object, &mut map)?;
    map.end()
}

/// A struct in a field: written without kind and apiVersion, because the field determines its type.
struct Bare<'a>(&'a dyn Struct);

impl Serialize for Bare<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        fields(self.0, &mut map)?;
        map.end()
    }
}

fn fields<M: SerializeMap>(object: &dyn Struct, map: &mut M) -> Result<(), M::Error> {
    for (index, field) in object.facts().fields.iter().enumerate() {
        let view = object.field(index).view();
        match view {
            View::Struct(inner) if field.inline => fields(inner, map)?,
            View::Map(rest) if field.inline => inlined(rest, map)?,
            _ if view.is_omitted(field) => {}
            // As in JSON, an empty list that is not optional is nil.
            View::List(list) if list.is_empty() && !field.is_optional() => map.serialize_entry(field.name, &())?,
            View::Map(entries) if entries.is_empty() && !field.is_optional() => map.serialize_entry(field.name, &())?,
            View::Struct(inner) => map.serialize_entry(field.name, &Bare(inner))?,
            other => map.serialize_entry(field.name, &Bridge(other))?,
        }
    }
    Ok(())
}

fn inlined<M: SerializeMap>(rest: &dyn Map, map: &mut M) -> Result<(), M::Error> {
    let mut result = Ok(());
    rest.each(&mut |key, value| {
        if result.is_ok() {
            result = map.serialize_entry(key, &Bridge(value.view()));
        }
    });
    result
}

/// Any value, for serde.
struct Bridge<'a>(View<'a>);

impl Serialize for Bridge<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            View::Absent => serializer.serialize_none(),
            View::Bool(value) => serializer.serialize_bool(*value),
            View::Int(value) => serializer.serialize_i64(*value),
            View::Double(value) => serializer.serialize_f64(*value),
            View::Str(value) => serializer.serialize_str(value),
            View::Struct(value) => serialize(*value, serializer),
            View::List(list) => elements(*list, serializer),
            View::Map(map) => entries(*map, serializer),
            View::Bytes(bytes) => {
                use base64::Engine as _;
                serializer.serialize_str(&base64::engine::general_purpose::STANDARD.encode(bytes))
            }
            View::Scalar(value) => {
                let mut text = Vec::new();
                value.write_json(&mut text);
                let (tree, _) = json::parse_value(&text, Strictness::Lenient).map_err(S::Error::custom)?;
                tree.serialize(serializer)
            }
        }
    }
}

fn elements<S: Serializer>(list: &dyn List, serializer: S) -> Result<S::Ok, S::Error> {
    let mut sequence = serializer.serialize_seq(Some(list.len()))?;
    for element in (0..list.len()).filter_map(|index| list.get(index)) {
        sequence.serialize_element(&Bridge(element.view()))?;
    }
    sequence.end()
}

fn entries<S: Serializer>(map: &dyn Map, serializer: S) -> Result<S::Ok, S::Error> {
    let mut out = serializer.serialize_map(Some(map.len()))?;
    inlined(map, &mut out)?;
    out.end()
}

/// Deserializes a value from its JSON form; unknown fields are dropped.
///
/// # Errors
///
/// Those of the deserializer, and those of [`json::from_value`].
pub fn deserialize<'de, T: Struct + Default, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let tree = serde_json::Value::deserialize(deserializer)?;
    let mut object = T::default();
    json::from_value(&tree, &mut object, Strictness::Lenient).map_err(D::Error::custom)?;
    Ok(object)
}

#[cfg(test)]
mod tests {
    use super::{deserialize, serialize};
    use crate::json::to_vec;
    use crate::meta::{ObjectMeta, Status};

    #[test]
    fn serde_writes_what_the_codec_writes() {
        let text = br#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","details":{"name":"x","causes":[{"field":"a"}]},"code":404}"#;
        let status: Status = deserialize(&mut serde_json::Deserializer::from_slice(text)).expect("valid");
        let mut out = Vec::new();
        serialize(&status, &mut serde_json::Serializer::new(&mut out)).expect("writing to memory");
        assert_eq!(out, to_vec(&status));
        assert_eq!(out, text);

        let text = br#"{"name":"n","creationTimestamp":"2024-01-02T03:04:05Z","labels":{"a":"b"},"managedFields":[{"fieldsV1":{"f:x":{}}}]}"#;
        let meta: ObjectMeta = deserialize(&mut serde_json::Deserializer::from_slice(text)).expect("valid");
        let mut out = Vec::new();
        serialize(&meta, &mut serde_json::Serializer::new(&mut out)).expect("writing to memory");
        assert_eq!(out, text);
    }
}
