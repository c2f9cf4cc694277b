//! The crate from outside: derived types against reference data and the codecs against random input.

mod codecs;
#[cfg(feature = "schemars")]
mod json_schema;
mod reference;
mod storage;
