//! Selectors of devices.

use planesmith_expressions::devices;
use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;

/// A selector of devices. Exactly one field is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceSelector {
    /// A selector in CEL.
    #[field(proto = 1)]
    pub cel: Option<CELDeviceSelector>,
}

/// A selector of devices in CEL.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CELDeviceSelector {
    /// CEL expression that evaluates to true for matching devices. Variable: device.
    #[field(proto = 1, keep)]
    pub expression: String,
}

/// Maximum length of an expression in bytes.
const MAX_EXPRESSION: usize = 10 * 1024;

impl DeviceSelector {
    /// Reports errors in the selector. A `stored` one is not checked again.
    pub(super) fn check(&self, stored: bool, errors: &mut FieldErrors) {
        match &self.cel {
            None => errors.required("cel", ""),
            Some(cel) if !stored && cel.expression.len() > MAX_EXPRESSION => {
                errors.too_long("cel.expression", MAX_EXPRESSION as u64);
            }
            Some(cel) if !stored => match devices::compile(&cel.expression) {
                Err(problem) => errors.invalid("cel.expression", &cel.expression, problem),
                Ok(program) if program.max_cost() > devices::MAX_COST => {
                    errors.forbidden("cel.expression", "too complex, exceeds cost limit");
                }
                Ok(_) => {}
            },
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_that_cost_too_much_are_refused() {
        let depth = 5;
        let loops: String = (0..depth).map(|i| format!("device.attributes.all(v{i}, ")).collect();
        let costly = format!("{loops}v0 != 'a'{}", ")".repeat(depth));
        for (expression, expected) in [
            ("device.driver == 'a'".to_owned(), None),
            (costly, Some("too complex, exceeds cost limit")),
        ] {
            let selector = DeviceSelector {
                cel: Some(CELDeviceSelector { expression }),
            };
            let mut errors = FieldErrors::default();
            selector.check(false, &mut errors);
            let found = errors.as_slice().first().map(|error| &*error.detail);
            assert_eq!(found, expected);
            errors = FieldErrors::default();
            selector.check(true, &mut errors);
            assert!(errors.as_slice().is_empty());
        }
    }
}
