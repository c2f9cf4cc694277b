//! The model behind the derives: read, check, print.
//!
//! An ordinary library on `proc_macro2`, so that unit tests and `cargo xtask generate` use the very code that the
//! derives run. Both sides go the same way: [`structure`] for `#[derive(Struct)]`, [`resource`] for
//! `#[derive(Resource)]`, each in the steps
//!
//! - `attr`: reads keys and decides nothing,
//! - `check`: one function per rule; turns what was read into the model, or reports every problem,
//! - `model`: facts that cannot be wrong any more,
//! - `expand`: prints the model and never fails,
//! - `fallback`: what is printed beside the errors, so that the rest of the crate stays quiet.

pub mod diagnostics;
mod docs;
mod json;
mod keys;
pub mod names;
pub mod resource;
pub mod structure;
pub mod type_ref;
