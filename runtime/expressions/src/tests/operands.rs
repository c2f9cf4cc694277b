//! Operands whose types are known at run time only.

use super::*;

#[test]
fn operands_of_wrong_types_are_refused_as_their_types_do() {
    for (expression, expected) in [
        ("dyn('a') ? 1 : 2", "no such overload"),
        ("-dyn('a')", "no such overload"),
        ("-dyn({})", "no such overload: -_"),
        ("-dyn(true)", "no such overload"),
        ("size(dyn(null))", "no such overload: size"),
        ("dyn(1).size()", "no such overload: size"),
        ("dyn('a') - dyn('b')", "no such overload"),
        ("dyn(true) - 1", "no such overload: _-_"),
        ("dyn([1]) < dyn([2])", "no such overload: _<_"),
        ("dyn({}) + dyn({})", "no such overload: _+_"),
        ("dyn(1) + 'a'", "no such overload"),
        ("dyn(1).startsWith('a')", "no such overload"),
        ("dyn('a').contains(dyn(1))", "no such overload"),
        ("dyn(1).matches('a')", "no such overload"),
        ("dyn(1).matches('a' + 'b')", "no such overload: matches"),
        ("dyn(1).find('a' + 'b')", "no such overload: find(int, string)"),
        ("dyn(1).find('a')", "no such overload"),
        ("int(dyn([1]))", "no such overload: int(list)"),
        ("dyn(1).all(i, true)", "got 'types.Int', expected iterable type"),
        ("dyn('a').map(i, i)", "got 'types.String', expected iterable type"),
        (
            "dyn(null).all(i, v, true)",
            "unsupported comprehension range type: types.Null",
        ),
    ] {
        check(expression, &format!("error: {expected}"));
    }
    check("-dyn(duration('1s'))", "-1s");
    check("dyn(1).orValue(2)", "1");
    check("dyn(3).or(optional.of(4))", "3");
}

#[test]
fn types_of_libraries_know_no_others() {
    for expression in [
        "dyn(quantity('1')) == 1",
        "dyn(ip('::1')) == 1",
        "dyn(url('/x')) == 'a'",
        "quantity('1') == dyn(ip('::1'))",
        "optional.of(dyn(semver('1.0.0'))) == optional.of(dyn(1))",
        "quantity('2') == quantity('1').add(quantity('1'))",
        "quantity('2') == quantity('1').add(1)",
        "cidr('10.0.0.0/8').containsIP('x')",
    ] {
        check(expression, "error: no such overload");
    }
    for expression in [
        "dyn(1) != quantity('1') && dyn(quantity('1')) != 1",
        "dyn(quantity('1')) != null && null != dyn(quantity('1'))",
        "quantity('1').add(quantity('1')) == quantity('2')",
        "quantity('2').compareTo(quantity('1').add(1)) == 0",
        "[dyn(quantity('1'))] == [dyn(1)] && [dyn(1)] != [dyn(quantity('1'))]",
        "!(dyn(quantity('1')) in [dyn(1)]) && !(quantity('2') in [quantity('1').add(1)])",
        "quantity('1').add(1) in [quantity('2')]",
    ] {
        check(expression, "true");
    }
}

#[test]
fn values_without_parts_lack_every_part() {
    let json = json!({"spec": null, "data": {"x": "v"}, "list": [1]});
    let shown = |expression: &str| {
        let program = Environment::new()
            .with("object", Type::Dyn)
            .compile(expression)
            .unwrap();
        let result = program
            .evaluate(&[("object", Ok(Value::of_document(&json)))], PER_CALL_LIMIT)
            .result;
        match result {
            Ok(value) => functions::format::plain(&value),
            Err(fault) => format!("error: {}", fault.message()),
        }
    };
    for (expression, expected) in [
        ("!has(object.spec.x) || object.spec.x == 1", "true"),
        ("has(object.data.x.y)", "false"),
        ("object.?spec.?x.orValue(1)", "1"),
        ("object.?data.?x.?y.orValue(1)", "1"),
        ("object.data.?x.y.z.orValue(1)", "1"),
        ("object.spec[?'x'].orValue(2) + dyn(1)[?0].orValue(2)", "4"),
        ("object.spec.x", "error: no such key: x"),
        ("object.data.x['y']", "error: no such key: y"),
        ("dyn(1)[0]", "error: no such key: 0"),
        ("object.list.x", "error: unsupported index type 'string' in list"),
        ("has(object.list.x)", "error: unsupported index type 'string' in list"),
        ("object.?list.x", "error: unsupported index type 'string' in list"),
        ("object.list['x']", "error: unsupported index type 'string' in list"),
        ("[1][dyn(true)]", "error: unsupported index type 'bool' in list"),
        ("[1][dyn(0.5)]", "error: unsupported index value 0.5 in list"),
        ("[1][dyn(-1)]", "error: index out of bounds: -1"),
        ("[1][?dyn(-1)].orValue(2) + [1][dyn(0.0)]", "3"),
    ] {
        assert_eq!(shown(expression), expected, "{expression}");
    }
}
