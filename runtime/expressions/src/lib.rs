//! CEL with the extensions of Kubernetes: rules of custom resources, admission policies and device selectors.
//!
//! Reading order: [`Environment`] (the names in scope) compiles a text to a [`Program`], in the steps `lexer`, `parser` (with
//! `macros`), `checker`, `collections` and `cost`. `evaluator` evaluates the program to a [`Value`]; the functions it calls are tables in
//! `functions`. [`Declared`] holds the types and sizes that a schema declares. These modules build on it: [`rules`] (validation
//! of objects by a schema's rules), [`definition`] (validation of the rules themselves), [`policy`] and [`authentication`].
//!
//! Messages, costs and limits are those of kube-apiserver 1.36. Nothing here blocks, and nothing runs longer than its
//! budget.

pub mod access_review;
mod ast;
pub mod authentication;
pub mod authorization;
mod checker;
mod collections;
mod cost;
mod declared;
pub mod definition;
pub mod devices;
pub mod field_path;
mod functions;
mod identifier;
mod lexer;
mod library;
mod literal;
mod parser;
pub mod policy;
mod price;
mod program;
pub mod rules;
mod source;
mod types;
mod value;

pub use declared::Declared;
pub use identifier::is_identifier;
pub use program::{Environment, Evaluation, PER_CALL_LIMIT, Program};
pub use types::{StructType, Type};
pub use value::{Constructed, Evaluated, Fault, Library, List, Map, Text, Value};

#[cfg(test)]
mod tests;
