//! Fuzz targets for all parsers of client input.
//!
//! A [`Target`] accepts arbitrary bytes and panics if a property is violated: the code does not panic, encoding and decoding
//! are lossless, and idempotent operations are idempotent. The tests of this package run each target briefly with fixed random
//! seeds; `cargo xtask fuzz` runs one for a given time, guided by coverage. Inputs that violated a property are stored in
//! `findings/TARGET`, and the tests run them from then on.

mod kinds;
mod mutate;
mod target;
mod targets;

pub use mutate::Mutator;
pub use target::{TARGETS, Target};
