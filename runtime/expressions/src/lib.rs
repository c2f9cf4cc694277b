//! CEL as Kubernetes speaks it: rules of custom resources, policies, selectors of devices.
//!
//! Reading order: [`Environment`] (the names that an expression knows) makes a [`Program`] out of a text, in the steps
//! `lexer`, `parser` (with `macros`), `checker` and `cost`; the program is evaluated to a [`Value`] by `evaluator`, whose
//! functions are tables in `functions`. [`Declared`] is what a schema tells about types and sizes. On top stand
//! [`rules`] (of a schema, for objects), [`definition`] (the same rules, when they are written) and [`policy`].
//!
//! Messages, costs and limits are those of kube-apiserver 1.36. Nothing here blocks, and nothing runs longer than its
//! budget.

mod ast;
mod checker;
mod cost;
mod declared;
pub mod definition;
pub mod devices;
mod evaluator;
pub mod field_path;
mod functions;
mod identifier;
mod lexer;
mod literal;
mod macros;
mod parser;
pub mod policy;
mod program;
pub mod rules;
mod source;
mod types;
mod value;

pub use declared::Declared;
pub use identifier::is_identifier;
pub use program::{Environment, Evaluation, PER_CALL_LIMIT, Program};
pub use types::{StructType, Type};
pub use value::{Evaluated, Fault, Library, List, Map, Text, Value};

#[cfg(test)]
mod tests;
