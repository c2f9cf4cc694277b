//! Bytes, tokens and documents: JSON, YAML, CBOR and protobuf as Kubernetes writes them, and the leaves of objects (times,
//! quantities, addresses, names) exactly as Go has them.
//!
//! Nothing here knows an object or the facts of a type: `planesmith-machinery` has both.
//!
//! Reading order: [`json`] (reader, writer and trees), [`yaml`] and [`cbor`] (by way of JSON), [`protobuf`] (fields and the
//! envelope), [`scalar`] (leaves with a form of their own) and the leaves, then texts: names, patterns, paths, formats of Go.

pub mod cbor;
pub mod der;
pub mod duration;
pub mod go_base64;
pub mod go_format;
pub mod go_grpc;
pub mod go_pattern;
pub mod hex;
pub mod int_or_string;
pub mod ip;
pub mod json;
pub mod json_path;
pub mod micro_time;
pub mod names;
pub mod pem;
pub mod protobuf;
pub mod quantity;
pub mod raw;
pub mod scalar;
pub mod sorting;
pub mod time;
pub mod type_meta;
pub mod yaml;
