//! Selectors of devices.

use crate::program::{Environment, Program};
use crate::types::Type;

/// The program of an expression that selects devices.
///
/// # Errors
///
/// What is wrong with it, in the words of kube-apiserver.
pub fn compile(expression: &str) -> Result<Program, String> {
    let fields = [
        ("driver", Type::String),
        ("attributes", Type::map(Type::map(Type::Dyn))),
        ("capacity", Type::map(Type::map(Type::Library("kubernetes.Quantity")))),
        ("allowMultipleAllocations", Type::Bool),
    ];
    let fields = fields.map(|(name, ty)| (name.to_owned(), ty)).into();
    let environment = Environment::new().with("device", Type::object("kubernetes.DRADevice", fields));
    let program = environment
        .compile(expression)
        .map_err(|problems| format!("compilation failed: {problems}"))?;
    match program.result_type() {
        Type::Bool | Type::Dyn => Ok(program),
        other => Err(format!("must evaluate to bool or the unknown type, not {other}")),
    }
}
