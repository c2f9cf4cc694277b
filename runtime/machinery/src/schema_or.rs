//! Unions of a schema and a simpler value, as JSON schemas of custom resources have them.
//!
//! In JSON the type of the value identifies the variant; in protobuf the union is a message with a field for each
//! variant.

use std::any::Any;
use std::fmt::Debug;

use planesmith_wire::protobuf::{Fields, Wire, write_bytes, write_int, write_message};

use crate::facts::{ScalarFacts, TypeFacts};
use crate::json::{self, encode_array, encode_text};
use crate::protobuf::{self, DecodeError};
use crate::scalar::{Scalar, ScalarCodec, ScalarError, Token};
use crate::value::{Shape, Slot, Struct, Value, View};

/// Levels that a union adds to the depth of its document: decoding a schema in it takes the stack of so many levels.
const LEVELS: usize = 3;

/// The requirements for the schema type of these unions.
pub trait Schema: Struct + Any + Clone + Debug + Default + PartialEq {}

impl<S: Struct + Any + Clone + Debug + Default + PartialEq> Schema for S {}

/// A schema, or a boolean that allows or forbids every value.
#[derive(Clone, Debug, PartialEq)]
pub enum SchemaOrBool<S> {
    /// Allows every value if true, none if false.
    Bool(bool),
    /// Allows values that match the schema.
    Schema(Box<S>),
}

/// A schema for all elements, or a schema per element.
#[derive(Clone, Debug, PartialEq)]
pub enum SchemaOrArray<S> {
    /// Not set.
    Nothing,
    /// A schema for all elements.
    Schema(Box<S>),
    /// A schema per element.
    Array(Vec<S>),
}

/// A schema, or the names of fields.
#[derive(Clone, Debug, PartialEq)]
pub enum SchemaOrStrings<S> {
    /// Not set.
    Nothing,
    /// A schema.
    Schema(Box<S>),
    /// Names of fields.
    Strings(Vec<String>),
}

macro_rules! choice {
    ($type:ident, $facts:ident, $go_name:literal, $default:ident $(($value:expr))? $(, absent $absent:ident)?) => {
        static $facts: ScalarFacts = ScalarFacts {
            go_name: concat!("v1.", $go_name),
            definition: concat!("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.", $go_name),
            openapi_type: "",
            format: "",
        };

        impl<S: Schema> Default for $type<S> {
            fn default() -> Self {
                Self::$default $(($value))?
            }
        }

        impl<S: Schema> $type<S> {
            /// The type in the tables of facts.
            pub const FACTS: TypeFacts = TypeFacts::Scalar(&$facts);
        }

        impl<S: Schema> Shape for $type<S> {
            const TYPE: TypeFacts = Self::FACTS;
        }

        impl<S: Schema> Value for $type<S> {
            fn view(&self) -> View<'_> {
                $(if matches!(self, Self::$absent) {
                    return View::Absent;
                })?
                View::Scalar(self)
            }

            fn slot(&mut self) -> Slot<'_> {
                Slot::Scalar(self)
            }

            fn reset(&mut self) {
                *self = Self::default();
            }
        }
    };
}

choice!(SchemaOrBool, OR_BOOL, "JSONSchemaPropsOrBool", Bool(false));
// A field without a value is neither stored nor returned.
choice!(SchemaOrArray, OR_ARRAY, "JSONSchemaPropsOrArray", Nothing, absent Nothing);
// The union is a map value, where an unset value is `null`.
choice!(SchemaOrStrings, OR_STRINGS, "JSONSchemaPropsOrStringArray", Nothing);

impl<S: Schema> Scalar for SchemaOrBool<S> {
    fn facts(&self) -> &'static ScalarFacts {
        &OR_BOOL
    }
}

impl<S: Schema> ScalarCodec for SchemaOrBool<S> {
    fn is_zero(&self) -> bool {
        *self == Self::Bool(false)
    }

    fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
            Self::Schema(schema) => json::encode(&**schema, out),
        }
    }

    fn read_json(&mut self, token: Token<'_>) -> Result<(), ScalarError> {
        self.read_json_within(token, 0)
    }

    fn read_json_within(&mut self, token: Token<'_>, depth: usize) -> Result<(), ScalarError> {
        *self = match token {
            Token::Bool(value) => Self::Bool(value),
            Token::Object(json) => Self::Schema(Box::new(schema_of_json(json, depth)?)),
            _ => return Err(ScalarError::Text("boolean or JSON schema expected".to_owned())),
        };
        Ok(())
    }

    fn write_proto(&self, out: &mut Vec<u8>) {
        match self {
            Self::Bool(value) => write_int(out, 1, i64::from(*value)),
            Self::Schema(schema) => {
                write_int(out, 1, 1);
                write_message(out, 2, |out| protobuf::encode(&**schema, out));
            }
        }
    }

    fn read_proto(&mut self, payload: &[u8]) -> Result<(), ScalarError> {
        self.read_proto_within(payload, 0)
    }

    fn read_proto_within(&mut self, payload: &[u8], depth: usize) -> Result<(), ScalarError> {
        let mut fields = Fields::new(payload, "JSONSchemaPropsOrBool");
        let (mut allows, mut schema) = (false, None);
        while let Some((number, wire)) = fields.next()? {
            match number {
                1 => allows = wire.int("Allows")? != 0,
                2 => schema = Some(schema_of_proto(wire.bytes("Schema")?, depth)?),
                _ => {}
            }
        }
        *self = schema.map_or(Self::Bool(allows), |schema| Self::Schema(Box::new(schema)));
        Ok(())
    }
}

impl<S: Schema> Scalar for SchemaOrArray<S> {
    fn facts(&self) -> &'static ScalarFacts {
        &OR_ARRAY
    }
}

impl<S: Schema> ScalarCodec for SchemaOrArray<S> {
    fn is_zero(&self) -> bool {
        *self == Self::Nothing
    }

    fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Nothing => out.extend_from_slice(b"null"),
            Self::Schema(schema) => json::encode(&**schema, out),
            Self::Array(schemas) => encode_array(schemas, out, |schema, out| json::encode(schema, out)),
        }
    }

    fn read_json(&mut self, token: Token<'_>) -> Result<(), ScalarError> {
        self.read_json_within(token, 0)
    }

    fn read_json_within(&mut self, token: Token<'_>, depth: usize) -> Result<(), ScalarError> {
        *self = match token {
            Token::Object(json) => Self::Schema(Box::new(schema_of_json(json, depth)?)),
            Token::Array(json) => {
                let mut schemas = Vec::new();
                for element in elements(json)? {
                    schemas.push(schema_of_json(element.get().as_bytes(), depth + 1)?);
                }
                Self::from_schemas(schemas)
            }
            _ => Self::Nothing,
        };
        Ok(())
    }

    fn write_proto(&self, out: &mut Vec<u8>) {
        match self {
            Self::Nothing => {}
            Self::Schema(schema) => write_message(out, 1, |out| protobuf::encode(&**schema, out)),
            Self::Array(schemas) => {
                for schema in schemas {
                    write_message(out, 2, |out| protobuf::encode(schema, out));
                }
            }
        }
    }

    fn read_proto(&mut self, payload: &[u8]) -> Result<(), ScalarError> {
        self.read_proto_within(payload, 0)
    }

    fn read_proto_within(&mut self, payload: &[u8], depth: usize) -> Result<(), ScalarError> {
        let read = |wire: Wire<'_>| schema_of_proto(wire.bytes("JSONSchemas")?, depth);
        let (schema, schemas) = choice_of_proto(payload, "JSONSchemaPropsOrArray", depth, read)?;
        *self = schema.map_or_else(|| Self::from_schemas(schemas), Self::Schema);
        Ok(())
    }
}

impl<S> SchemaOrArray<S> {
    /// An empty list of schemas is the same as an unset value.
    fn from_schemas(schemas: Vec<S>) -> Self {
        if schemas.is_empty() {
            Self::Nothing
        } else {
            Self::Array(schemas)
        }
    }
}

impl<S: Schema> Scalar for SchemaOrStrings<S> {
    fn facts(&self) -> &'static ScalarFacts {
        &OR_STRINGS
    }
}

impl<S: Schema> ScalarCodec for SchemaOrStrings<S> {
    fn is_zero(&self) -> bool {
        *self == Self::Nothing
    }

    fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Nothing => out.extend_from_slice(b"null"),
            Self::Schema(schema) => json::encode(&**schema, out),
            Self::Strings(texts) => encode_array(texts, out, |text, out| encode_text(text, out)),
        }
    }

    fn read_json(&mut self, token: Token<'_>) -> Result<(), ScalarError> {
        self.read_json_within(token, 0)
    }

    fn read_json_within(&mut self, token: Token<'_>, depth: usize) -> Result<(), ScalarError> {
        *self = match token {
            Token::Object(json) => Self::Schema(Box::new(schema_of_json(json, depth)?)),
            Token::Array(json) => {
                let texts: Vec<String> =
                    serde_json::from_slice(json).map_err(|error| ScalarError::Text(error.to_string()))?;
                Self::from_texts(texts)
            }
            _ => Self::Nothing,
        };
        Ok(())
    }

    fn write_proto(&self, out: &mut Vec<u8>) {
        match self {
            Self::Nothing => {}
            Self::Schema(schema) => write_message(out, 1, |out| protobuf::encode(&**schema, out)),
            Self::Strings(texts) => texts.iter().for_each(|text| write_bytes(out, 2, text.as_bytes())),
        }
    }

    fn read_proto(&mut self, payload: &[u8]) -> Result<(), ScalarError> {
        self.read_proto_within(payload, 0)
    }

    fn read_proto_within(&mut self, payload: &[u8], depth: usize) -> Result<(), ScalarError> {
        let read = |wire: Wire<'_>| Ok(wire.text("Property")?.into_owned());
        let (schema, texts) = choice_of_proto(payload, "JSONSchemaPropsOrStringArray", depth, read)?;
        *self = schema.map_or_else(|| Self::from_texts(texts), Self::Schema);
        Ok(())
    }
}

impl<S> SchemaOrStrings<S> {
    /// An empty list of names is the same as an unset value.
    fn from_texts(texts: Vec<String>) -> Self {
        if texts.is_empty() {
            Self::Nothing
        } else {
            Self::Strings(texts)
        }
    }
}

fn elements(json: &[u8]) -> Result<Vec<&serde_json::value::RawValue>, ScalarError> {
    serde_json::from_slice(json).map_err(|error| ScalarError::Text(error.to_string()))
}

fn schema_of_json<S: Schema>(json: &[u8], depth: usize) -> Result<S, ScalarError> {
    let mut schema = S::default();
    json::decode_within(json, &mut schema, depth + LEVELS).map_err(|error| ScalarError::Text(error.to_string()))?;
    Ok(schema)
}

fn schema_of_proto<S: Schema>(message: &[u8], depth: usize) -> Result<S, DecodeError> {
    let mut schema = S::default();
    protobuf::decode_within(message, &mut schema, depth + LEVELS)?;
    Ok(schema)
}

/// Decodes a union of a schema and a list of other values.
fn choice_of_proto<S: Schema, T>(
    payload: &[u8],
    name: &'static str,
    depth: usize,
    read: impl Fn(Wire<'_>) -> Result<T, DecodeError>,
) -> Result<(Option<Box<S>>, Vec<T>), DecodeError> {
    let mut fields = Fields::new(payload, name);
    let (mut schema, mut others) = (None, Vec::new());
    while let Some((number, wire)) = fields.next()? {
        match number {
            1 => schema = Some(Box::new(schema_of_proto(wire.bytes("Schema")?, depth)?)),
            2 => others.push(read(wire)?),
            _ => {}
        }
    }
    Ok((schema, others))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Struct;
    use crate::json::Strictness;

    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    struct Node {
        #[field(proto = 1)]
        not: Option<Box<Node>>,
        #[field(proto = 2)]
        items: Option<SchemaOrArray<Node>>,
    }

    fn json(choices: usize, between: usize) -> String {
        let open = format!("{{\"items\":{}", "{\"not\":".repeat(between));
        let close = format!("{}}}", "}".repeat(between));
        format!("{}{{}}{}", open.repeat(choices), close.repeat(choices))
    }

    fn message(choices: usize, between: usize) -> Vec<u8> {
        let inside = |number: u32, inner: &[u8]| {
            let mut out = Vec::new();
            write_bytes(&mut out, number, inner);
            out
        };
        let mut out = Vec::new();
        for _ in 0..choices {
            for _ in 0..between {
                out = inside(1, &out);
            }
            out = inside(2, &inside(1, &out));
        }
        out
    }

    #[test]
    fn depth_is_counted_through_choices() {
        for (choices, between, fits) in [(50, 0, true), (5, 30, true), (20, 200, false), (500, 0, false)] {
            let mut node = Node::default();
            let read = json::decode(json(choices, between).as_bytes(), &mut node, Strictness::Lenient);
            assert_eq!(read.is_ok(), fits, "{choices} choices in JSON: {read:?}");
            let mut node = Node::default();
            let read = protobuf::decode(&message(choices, between), &mut node);
            assert_eq!(read.is_ok(), fits, "{choices} choices in protobuf: {read:?}");
        }
    }
}
