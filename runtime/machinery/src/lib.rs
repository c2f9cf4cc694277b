//! The machinery of API objects: facts, values, metadata, typed codecs, scheme, conversion, validation.
//!
//! Reading order: [`facts`] (static tables that the derives emit), [`value`] (the uniform view of typed values),
//! [`resource`] (kinds) with [`object`] and [`strategy`] (what a kind does beyond its declarations), then the walks over them.

extern crate self as planesmith_machinery;

pub mod age;
pub mod bridge;
pub mod byte_string;
pub mod configuration_file;
pub mod conversion;
pub mod copy;
pub mod decode_budget;
pub mod defaulting;
pub mod environment;
pub mod facts;
pub mod feature;
pub mod field_error;
pub mod go_value;
pub mod group_version;
pub mod heap_size;
pub mod ip;
pub mod json;
pub mod json_schema;
pub mod leaves;
pub mod meta;
pub mod protobuf;
pub mod resource;
pub mod scalar;
pub mod scale;
pub mod schema_or;
pub mod scheme;
pub mod selector;
pub mod status;
pub mod table;
#[cfg(feature = "testing")]
pub mod testing;
pub mod validation;
pub mod value;

// Dependent crates use these types through machinery.
pub use planesmith_clock as clock;
pub use planesmith_wire::{
    cbor, der, duration, go_base64, go_format, go_grpc, go_pattern, hex, int_or_string, json_path, micro_time, names,
    pem, quantity, raw, sorting, time, yaml,
};

pub use resource::{object, strategy};

pub use planesmith_codegen::{Resource, Struct};
