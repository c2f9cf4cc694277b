//! The implementation of the derives.
//!
//! An ordinary library on `proc_macro2`, so that unit tests and `cargo xtask generate` run the same code as the derives.
//! [`structure`] implements `#[derive(Struct)]`, [`resource`] `#[derive(Resource)]`, each in these steps:
//!
//! - `attr`: parses the keys without validating them,
//! - `check`: one function per rule; builds the model, or reports all problems,
//! - `model`: the validated facts,
//! - `expand`: generates code from the model; never fails,
//! - `fallback`: generates stubs to accompany errors, so that the rest of the crate compiles without further errors.

pub mod diagnostics;
mod docs;
mod json;
mod keys;
pub mod names;
pub mod resource;
pub mod structure;
pub mod type_ref;
