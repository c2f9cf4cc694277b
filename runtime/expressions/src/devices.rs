//! CEL selectors of devices.

use crate::declared::Declared;
use crate::program::{Environment, Program};
use crate::types::Type;

/// The cost limit for evaluating a selector on one device.
pub const MAX_COST: u64 = 1_000_000;

/// The maximum number of attributes and capacities of a device.
const MAX_ENTRIES: u64 = 32;

/// The maximum length of an attribute's or capacity's domain, and of a driver name, which is such a domain.
const MAX_DOMAIN: u64 = 63;

/// The maximum length of a name within a domain.
const MAX_NAME: u64 = 32;

/// The maximum length of an attribute's value.
const MAX_VALUE: u64 = 64;

/// Compiles an expression that selects devices.
///
/// # Errors
///
/// The compile errors, worded as kube-apiserver words them.
pub fn compile(expression: &str) -> Result<Program, String> {
    let device = device();
    let environment = Environment::new()
        .with_bindings()
        .with("device", device.ty.clone())
        .bounded_by(&device);
    let program = environment
        .compile(expression)
        .map_err(|problems| format!("compilation failed: {problems}"))?;
    match program.result_type() {
        Type::Bool | Type::Dyn => program.instantiated(),
        other => Err(format!("must evaluate to bool or the unknown type, not {other}")),
    }
}

/// The declaration of `device`: its type and the size bounds of its parts.
fn device() -> Declared {
    let by_domain = |element: Declared, has_any_field: bool| {
        let by_name = Declared {
            max_key: MAX_NAME,
            has_any_field,
            ..Declared::map(element, MAX_ENTRIES)
        };
        Declared {
            max_key: MAX_DOMAIN,
            ..Declared::map(by_name, MAX_ENTRIES)
        }
    };
    let attribute = Declared::simple(Type::Dyn, MAX_VALUE, 1);
    let capacity = Declared::simple(Type::Library("kubernetes.Quantity"), 0, 8);
    let fields = [
        ("driver", Declared::simple(Type::String, MAX_DOMAIN, 2)),
        ("attributes", by_domain(attribute, true)),
        ("capacity", by_domain(capacity, false)),
        ("allowMultipleAllocations", Declared::simple(Type::Bool, 1, 4)),
    ];
    let fields = fields.map(|(name, declared)| (name.to_owned(), declared)).into();
    Declared::with_fields("kubernetes.DRADevice", fields, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_devices_bound_costs() {
        let cost = |expression| compile(expression).unwrap().max_cost();
        assert!(cost("device.driver == 'a.example.com'") < 100);
        assert!(cost("device.attributes['a'].name.contains('a')") < 1000);
        assert!(cost("device.attributes.all(d, d.startsWith('a'))") < 2000);
        let twice = "device.attributes['a'].one && device.attributes['a'].two";
        let named = "cel.bind(a, device.attributes['a'], a.one && a.two)";
        assert_eq!(cost("cel.bind(a, device.attributes['a'], a.name)"), 15);
        assert_eq!(cost(named), 17);
        assert!(cost(twice) < cost(named));
        let nested = "device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, device.attributes.all(d, a + b == c + d))))";
        assert!(cost(nested) > MAX_COST);
    }

    #[test]
    fn an_empty_selector_has_no_first_line() {
        let problem = compile("").unwrap_err();
        assert!(
            problem.starts_with("compilation failed: ERROR: <input>:1:0: Syntax error"),
            "{problem}"
        );
        assert_eq!(problem.lines().count(), 1, "{problem}");
    }

    #[test]
    fn values_have_names() {
        assert!(compile("cel.bind(d, device.driver, d == 'a' || d == 'b')").is_ok());
        let problem = compile("cel.bind(a.b, 1, true)").unwrap_err();
        assert!(
            problem.contains("<input>:1:11: cel.bind() variable names must be simple identifiers"),
            "{problem}"
        );
        let problem = compile("cel.bind(a, 1, a)").unwrap_err();
        assert_eq!(problem, "must evaluate to bool or the unknown type, not int");
    }
}
