//! Compiled expressions of policies.

use super::{CompileError, PolicyEnvironment};
use crate::program::Program;
use crate::types::Type;

/// An expression of a policy. A stored expression that does not compile, because an older server accepted it, fails whenever it
/// is evaluated.
#[derive(Debug)]
pub struct Expression {
    text: String,
    program: Result<Program, String>,
}

impl Expression {
    /// Compiles `text`, whose type must be one of `results`; an empty list allows all types.
    #[must_use]
    pub fn new(text: &str, environment: &PolicyEnvironment, results: &[Type]) -> Self {
        Self {
            text: text.to_owned(),
            program: environment.compile(text, results).map_err(CompileError::into_message),
        }
    }

    /// The expression as written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The program, or the error of compilation.
    pub(super) fn program(&self) -> Result<&Program, &str> {
        self.program.as_ref().map_err(String::as_str)
    }

    /// Returns the static type of the result; an unknown type if the expression does not compile.
    pub(super) fn result_type(&self) -> Type {
        let program = self.program.as_ref();
        program.map_or(Type::Dyn, |program| program.result_type().clone())
    }
}
