//! Leaf types with a form of their own: times, quantities, int-or-string, raw JSON.

use std::any::Any;

pub use planesmith_wire::scalar::{ScalarCodec, ScalarError, Token};

use crate::facts::ScalarFacts;

/// A leaf type of objects: its codec, and its names.
pub trait Scalar: ScalarCodec + Any + Send + Sync {
    /// The names of the type in errors and in OpenAPI.
    fn facts(&self) -> &'static ScalarFacts;
}
