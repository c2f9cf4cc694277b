//! Costs of evaluations, in the units of kube-apiserver.

use super::*;

fn cost(expression: &str) -> u64 {
    let object = json!({"a": 1});
    let value = || Ok(Value::of_document(&object));
    let environment = Environment::new().with("object", Type::Dyn).with("params", Type::Dyn);
    let program = environment.compile(expression).unwrap();
    let variables = [("object", value()), ("params", value())];
    let evaluation = program.evaluate(&variables, PER_CALL_LIMIT);
    assert!(evaluation.result.is_ok(), "{expression}: {:?}", evaluation.result);
    evaluation.cost
}

#[track_caller]
fn check_costs(cases: &[(&str, u64)]) {
    for (expression, expected) in cases {
        assert_eq!(cost(expression), *expected, "{expression}");
    }
}

#[test]
fn constants_have_no_cost() {
    check_costs(&[
        ("[1, 2]", 0),
        ("[[1, 2], [3]]", 0),
        ("{'a': [1]}", 0),
        ("[object.a]", 12),
        ("string(1)", 0),
        ("int(string(1)) + 1", 1),
        ("string(object.a)", 3),
        ("type(1) == int", 1),
        ("[1, 2, 3] == [1, 2, 3]", 1),
        ("[1].map(x, [1, 2])", 3),
    ]);
}

#[test]
fn searches_in_constant_lists_have_no_cost() {
    check_costs(&[
        ("object.a in [1, 2, 3]", 2),
        ("object.a in [1.0, 2.0]", 2),
        ("object.b in []", 0),
        ("object.a in [[1]]", 3),
        ("1 in [object.a]", 13),
        ("object.a in {'a': 1, 'b': 2}", 3),
    ]);
}

#[test]
fn parts_of_computed_values_cost_as_those_of_variables() {
    check_costs(&[
        ("object.a", 2),
        ("{'a': 1}.a", 2),
        ("[[1], [2]][object.a]", 3),
        ("{'a': object}.a.a", 34),
        ("has({'a': 1}.a)", 1),
        ("has(object.a)", 1),
        ("[1, 2, 3].map(i, [5, 6, 7, 8][i])", 43),
        ("object.a == 1 ? object.a : 2", 4),
        ("(object.a == 1 ? object : params).a", 4),
    ]);
}

#[test]
fn absent_optional_parts_have_no_cost() {
    check_costs(&[
        ("object.?a", 2),
        ("object.?b.orValue(3)", 1),
        ("object.?b.c.d.orValue(3)", 1),
        ("{'a': 1}[?'b'].orValue(2)", 1),
        ("optional.of(object.a).optMap(x, x + 1)", 11),
    ]);
}

#[test]
fn rounds_of_loops_have_costs() {
    check_costs(&[
        ("[1].all(x, true)", 4),
        ("[1, 2].all(x, true)", 7),
        ("[1, 2, 3].all(x, x > 0)", 16),
        ("[1, 2, 3].exists(x, false)", 13),
        ("[1, 2, 3].exists_one(x, x > 1)", 12),
        ("object.all(k, v, v == 1)", 7),
    ]);
}

#[test]
fn estimates_are_those_of_kube_apiserver() {
    let text = json!({"type": "string", "maxLength": 5});
    let texts = json!({"type": "array", "maxItems": 5, "items": text});
    let schema = json!({"type": "object", "properties": {"s": text, "l": texts, "i": {"type": "integer"}}});
    let declared = Declared::from_schema(&Structural::compile(&schema), false, "selfType").unwrap();
    let environment = Environment::new()
        .with("self", declared.ty.clone())
        .bounded_by(&declared);
    for (rule, expected) in [
        // The elements of a list that is no part of the object have the size of the root, which has no elements.
        ("self.s.split(',').map(x, x + 'a').size() > 1", 299),
        ("(self.l + self.l).all(x, x == 'a')", 46),
        ("[self.s, self.s].all(x, x == 'a')", 23),
        ("dyn(self.l).all(x, x == 'a')", 24),
        ("[3, 1, 2].sort()[0] == 1", 40),
        ("self.l.all(x, x == 'a')", 28),
        // Parsers pass over their text.
        ("isIP(self.s)", 4),
        ("ip.isCanonical(self.s)", 6),
        ("cidr(self.s).containsIP(ip(self.s))", 12),
        ("isQuantity(self.s)", 4),
        ("semver(self.s).isLessThan(semver('1.0.0'))", 6),
        ("url(self.s) == url('/a')", 6),
    ] {
        assert_eq!(environment.compile(rule).unwrap().max_cost(), expected, "{rule}");
    }
}
