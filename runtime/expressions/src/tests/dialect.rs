//! The parts of CEL that expressions of Kubernetes do not have, and the positions of problems.

use super::*;
use crate::policy::{PolicyEnvironment, PolicyVariables};

/// Returns the positions and texts of the problems of an expression.
fn problems(expression: &str) -> Vec<String> {
    let environment = Environment::new()
        .with("object", Type::Dyn)
        .with("request", Type::object("kubernetes.AdmissionRequest", BTreeMap::new()));
    let said = environment.compile(expression).err().unwrap_or_default();
    let lines = said.lines().filter_map(|line| line.strip_prefix("ERROR: <input>:1:"));
    lines.map(|line| line.replace(" (in container '')", "")).collect()
}

#[track_caller]
fn check_problems(expression: &str, expected: &[&str]) {
    assert_eq!(problems(expression), expected, "{expression}");
}

#[test]
fn later_additions_to_cel_are_unknown() {
    check_problems(
        "'abc'.reverse()",
        &["14: found no matching overload for 'reverse' applied to 'string.()'"],
    );
    check_problems(
        "[1].existsOne(x, x == 1)",
        &[
            "14: undeclared reference to 'existsOne'",
            "15: undeclared reference to 'x'",
            "18: undeclared reference to 'x'",
        ],
    );
    check("[1].exists_one(x, x == 1) && [1].existsOne(i, x, x == 1)", "true");
    check_problems("object.`spec`", &["8: unsupported syntax: '`'"]);
    check_problems("object.spec.?`a b` == nope", &["14: unsupported syntax: '`'"]);
    check_problems("Foo{`a`: 1}", &["5: unsupported syntax: '`'"]);
}

#[test]
fn the_sign_of_a_quantity_is_a_global_function() {
    check("sign(quantity('-1'))", "-1");
    check_problems(
        "quantity('1').sign()",
        &["19: found no matching overload for 'sign' applied to 'kubernetes.Quantity.()'"],
    );
}

#[test]
fn problems_of_types_are_those_of_declared_objects() {
    check_problems(
        "quantity('1Gi').name",
        &["16: unexpected failed resolution of 'kubernetes.Quantity'"],
    );
    check_problems(
        "Object.metadata{labels: x}",
        &["16: undeclared reference to 'Object.metadata'"],
    );
}

#[test]
fn steps_over_optionals_check_their_target_twice() {
    let twice = |problem: &str| vec![problem.to_owned(), problem.to_owned()];
    assert_eq!(problems("(x).optMap(y, y)"), twice("2: undeclared reference to 'x'"));
    assert_eq!(
        problems("(request / 1).optFlatMap(x, x)"),
        twice("10: found no matching overload for '_/_' applied to '(kubernetes.AdmissionRequest, int)'")
    );
}

#[test]
fn literals_of_times_and_patterns_are_checked() {
    for (expression, expected) in [
        ("timestamp(253402300800)", "11: invalid timestamp argument"),
        ("timestamp('0000-01-01T00:00:00Z')", "11: invalid timestamp argument"),
        ("matches('(', 'a')", "9: invalid matches argument"),
    ] {
        check_problems(expression, &[expected]);
    }
    let environment = PolicyEnvironment::new(PolicyVariables::default());
    assert_eq!(
        environment
            .compile("matches(object.a, '(')", &[])
            .unwrap_err()
            .into_message(),
        "program instantiation failed: error parsing regexp: missing closing ): `(`"
    );
}

#[test]
fn results_are_named_with_their_parameters() {
    let environment = PolicyEnvironment::new(PolicyVariables::default());
    for (expression, name) in [
        ("timestamp('2020-01-01T00:00:00Z')", "google.protobuf.Timestamp"),
        ("duration('1s')", "google.protobuf.Duration"),
        ("[null]", "list(null_type)"),
        ("{'a': optional.of(object)}", "map(string, optional_type(dyn))"),
        ("type(null)", "type(null_type)"),
        ("quantity('1')", "kubernetes.Quantity"),
    ] {
        let refused = environment.compile(expression, &[Type::Bool]).unwrap_err();
        assert_eq!(
            refused.into_message(),
            format!("must evaluate to bool but got {name}"),
            "{expression}"
        );
    }
}

#[test]
fn variables_of_policies_have_simple_types() {
    let declared = |value: &str| {
        let mut environment = PolicyEnvironment::new(PolicyVariables {
            authorizer: true,
            variables: true,
            ..PolicyVariables::default()
        });
        let program = environment.compile(value, &[]).unwrap();
        environment.declare("v", program.result_type());
        let program = environment.compile("variables.v", &[]).unwrap();
        program.result_type().result_name()
    };
    for (value, expected) in [
        ("1", "int"),
        ("null", "null_type"),
        ("timestamp('2020-01-01T00:00:00Z')", "google.protobuf.Timestamp"),
        ("[[1]]", "list(list(int))"),
        ("[]", "list(dyn)"),
        ("[quantity('1')]", "list(dyn)"),
        ("{'a': quantity('1')}", "map(string, dyn)"),
        ("quantity('1')", "dyn"),
        ("optional.of('a')", "dyn"),
        ("type(1)", "dyn"),
        ("authorizer", "dyn"),
        ("namespaceObject", "dyn"),
        ("request.userInfo", "dyn"),
    ] {
        assert_eq!(declared(value), expected, "{value}");
    }
}
