//! A schema or something simpler in its place: the choices that JSON schemas of custom resources have.
//!
//! In JSON the choice shows in the kind of value that is there; in protobuf it is a message with a field for each.

use std::any::Any;
use std::cell::Cell;
use std::fmt::Debug;

use crate::facts::{ScalarFacts, TypeFacts};
use crate::json::{self, Strictness, encode_text};
use crate::protobuf::wire::{Fields, write_bytes, write_int, write_message};
use crate::protobuf::{self, DecodeError};
use crate::scalar::{Scalar, ScalarError, Token};
use crate::value::{Shape, Slot, Struct, Value, View};

/// How deep one choice may lie in another. Each is read on its own, so their reader cannot count.
const MAX_DEPTH: u32 = 64;

/// What a schema is to these choices.
pub trait Schema: Struct + Any + Clone + Debug + Default + PartialEq {}

impl<S: Struct + Any + Clone + Debug + Default + PartialEq> Schema for S {}

/// A schema, or whether anything is allowed.
#[derive(Clone, Debug, PartialEq)]
pub enum SchemaOrBool<S> {
    /// Anything, or nothing.
    Bool(bool),
    /// What fits the schema.
    Schema(Box<S>),
}

/// A schema for all elements, or one for each.
#[derive(Clone, Debug, PartialEq)]
pub enum SchemaOrArray<S> {
    /// Nothing was said.
    Nothing,
    /// For all.
    Schema(Box<S>),
    /// One for each.
    Array(Vec<S>),
}

/// A schema, or the names of fields.
#[derive(Clone, Debug, PartialEq)]
pub enum SchemaOrStrings<S> {
    /// Nothing was said.
    Nothing,
    /// A schema.
    Schema(Box<S>),
    /// Names.
    Strings(Vec<String>),
}

macro_rules! choice {
    ($type:ident, $facts:ident, $go_name:literal, $default:ident $(($value:expr))?) => {
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
            /// What the type is to tables.
            pub const FACTS: TypeFacts = TypeFacts::Scalar(&$facts);
        }

        impl<S: Schema> Shape for $type<S> {
            const TYPE: TypeFacts = Self::FACTS;
        }

        impl<S: Schema> Value for $type<S> {
            fn view(&self) -> View<'_> {
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
choice!(SchemaOrArray, OR_ARRAY, "JSONSchemaPropsOrArray", Nothing);
choice!(SchemaOrStrings, OR_STRINGS, "JSONSchemaPropsOrStringArray", Nothing);

impl<S: Schema> Scalar for SchemaOrBool<S> {
    fn facts(&self) -> &'static ScalarFacts {
        &OR_BOOL
    }

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
        *self = match token {
            Token::Bool(value) => Self::Bool(value),
            Token::Object(json) => Self::Schema(Box::new(schema_of_json(json)?)),
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
        let mut fields = Fields::new(payload, "JSONSchemaPropsOrBool");
        let (mut allows, mut schema) = (false, None);
        while let Some((number, wire)) = fields.next()? {
            match number {
                1 => allows = wire.int("Allows")? != 0,
                2 => schema = Some(schema_of_proto(wire.bytes("Schema")?)?),
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

    fn is_zero(&self) -> bool {
        *self == Self::Nothing
    }

    fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Nothing => out.extend_from_slice(b"null"),
            Self::Schema(schema) => json::encode(&**schema, out),
            Self::Array(schemas) => write_array(schemas, out, |schema, out| json::encode(schema, out)),
        }
    }

    fn read_json(&mut self, token: Token<'_>) -> Result<(), ScalarError> {
        *self = match token {
            Token::Object(json) => Self::Schema(Box::new(schema_of_json(json)?)),
            Token::Array(json) => {
                let mut schemas = Vec::new();
                for element in elements(json)? {
                    schemas.push(schema_of_json(element.get().as_bytes())?);
                }
                Self::of(schemas)
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
        let mut fields = Fields::new(payload, "JSONSchemaPropsOrArray");
        let (mut schema, mut schemas) = (None, Vec::new());
        while let Some((number, wire)) = fields.next()? {
            match number {
                1 => schema = Some(schema_of_proto(wire.bytes("Schema")?)?),
                2 => schemas.push(schema_of_proto(wire.bytes("JSONSchemas")?)?),
                _ => {}
            }
        }
        *self = schema.map_or_else(|| Self::of(schemas), |schema| Self::Schema(Box::new(schema)));
        Ok(())
    }
}

impl<S> SchemaOrArray<S> {
    /// No schemas are the same as nothing.
    fn of(schemas: Vec<S>) -> Self {
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

    fn is_zero(&self) -> bool {
        *self == Self::Nothing
    }

    fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Nothing => out.extend_from_slice(b"null"),
            Self::Schema(schema) => json::encode(&**schema, out),
            Self::Strings(texts) => write_array(texts, out, |text, out| encode_text(text, out)),
        }
    }

    fn read_json(&mut self, token: Token<'_>) -> Result<(), ScalarError> {
        *self = match token {
            Token::Object(json) => Self::Schema(Box::new(schema_of_json(json)?)),
            Token::Array(json) => {
                let texts: Vec<String> =
                    serde_json::from_slice(json).map_err(|error| ScalarError::Text(error.to_string()))?;
                Self::of(texts)
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
        let mut fields = Fields::new(payload, "JSONSchemaPropsOrStringArray");
        let (mut schema, mut texts) = (None, Vec::new());
        while let Some((number, wire)) = fields.next()? {
            match number {
                1 => schema = Some(schema_of_proto(wire.bytes("Schema")?)?),
                2 => texts.push(wire.text("Property")?.into_owned()),
                _ => {}
            }
        }
        *self = schema.map_or_else(|| Self::of(texts), |schema| Self::Schema(Box::new(schema)));
        Ok(())
    }
}

impl<S> SchemaOrStrings<S> {
    /// No names are the same as nothing.
    fn of(texts: Vec<String>) -> Self {
        if texts.is_empty() {
            Self::Nothing
        } else {
            Self::Strings(texts)
        }
    }
}

fn write_array<T>(elements: &[T], out: &mut Vec<u8>, write: impl Fn(&T, &mut Vec<u8>)) {
    out.push(b'[');
    for (index, element) in elements.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(element, out);
    }
    out.push(b']');
}

fn elements(json: &[u8]) -> Result<Vec<&serde_json::value::RawValue>, ScalarError> {
    serde_json::from_slice(json).map_err(|error| ScalarError::Text(error.to_string()))
}

fn schema_of_json<S: Schema>(json: &[u8]) -> Result<S, ScalarError> {
    nested(|| {
        let mut schema = S::default();
        match json::decode(json, &mut schema, Strictness::Lenient) {
            Ok(_) => Ok(schema),
            Err(error) => Err(ScalarError::Text(error.to_string())),
        }
    })
}

fn schema_of_proto<S: Schema>(message: &[u8]) -> Result<S, DecodeError> {
    nested(|| {
        let mut schema = S::default();
        protobuf::decode(message, &mut schema).map_err(|error| ScalarError::Text(error.to_string()))?;
        Ok(schema)
    })
    .map_err(|error| DecodeError(error.to_string()))
}

/// Reads one level deeper, unless that would be too deep for the stack.
fn nested<T>(read: impl FnOnce() -> Result<T, ScalarError>) -> Result<T, ScalarError> {
    thread_local! {
        static DEPTH: Cell<u32> = const { Cell::new(0) };
    }
    let depth = DEPTH.get();
    if depth >= MAX_DEPTH {
        return Err(ScalarError::Text("exceeded max depth".to_owned()));
    }
    DEPTH.set(depth + 1);
    let result = read();
    DEPTH.set(depth);
    result
}
