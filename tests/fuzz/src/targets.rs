//! The targets, one per file: `run` processes an input, `seeds` returns initial inputs.

pub(crate) mod apply;
pub(crate) mod cbor;
pub(crate) mod definitions;
pub(crate) mod envelopes;
pub(crate) mod expressions;
pub(crate) mod fields;
pub(crate) mod json;
pub(crate) mod patches;
pub(crate) mod protobuf;
pub(crate) mod quantities;
pub(crate) mod schemas;
pub(crate) mod selectors;
pub(crate) mod yaml;
