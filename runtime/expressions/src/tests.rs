use std::collections::BTreeMap;

use planesmith_dynamic::structural::Structural;
use planesmith_machinery::field_error::{FieldError, FieldErrors};
use serde_json::{Value as Json, json};

use super::*;
use crate::rules::Rules;

mod costs;
mod dialect;
mod hostile;
mod operands;
mod overloads;

fn rendered(expression: &str) -> String {
    let environment = Environment::new()
        .with("x", Type::Dyn)
        .with_object(Type::object(types::JSON_PATCH, BTreeMap::new()));
    match environment.compile(expression) {
        Err(problems) => problems,
        Ok(program) => {
            let evaluation = program.evaluate(&[("x", Ok(Value::Int(7)))], PER_CALL_LIMIT);
            match evaluation.result {
                Ok(value) => functions::format::plain(&value),
                Err(fault) => format!("error: {}", fault.message()),
            }
        }
    }
}

#[track_caller]
fn check(expression: &str, expected: &str) {
    assert_eq!(rendered(expression), expected, "{expression}");
}

#[test]
fn operators() {
    check("1 + 2 * 3 - 4 / 2 % 3", "5");
    check("-(-3) == 3 && !false", "true");
    check("1 < 2.5 && 2u >= 2 && 'a' < 'b'", "true");
    check("true ? 'y' : 'n'", "y");
    check("1 / 0 == 1 || true", "true");
    check("1 / 0", "error: division by zero");
    check("9223372036854775807 + 1", "error: integer overflow");
    check("dyn('a') + 1", "error: no such overload");
    check("[1, 2][2]", "error: index out of bounds: 2");
    check("{'a': 1}['b']", "error: no such key: b");
    check("{'a': 1}.b", "error: no such key: b");
    check("{'a': 1}.a + {'b': [1, 2]}.b[1]", "3");
    check("1 in [1, 2] && 'a' in {'a': 1} && !(3 in [1])", "true");
    check("type(1) == int && type('') == string && type(x) != bool", "true");
    check("0x1F + 1", "32");
    check("b'abc'.size() + size('äö') + [1].size()", "6");
    check("'\\u00e4\\x41\\101\\n' == 'äAA\\n' && r'\\n'.size() == 2", "true");
    check("--1", "1");
}

#[test]
fn macros_and_optionals() {
    check("[1, 2, 3].map(i, i * 2).filter(i, i > 2)", "[4, 6]");
    check("[1, 2, 3].map(i, i > 1, i * 2)", "[4, 6]");
    check(
        "[1, 2].all(i, i > 0) && [1, 2].exists(i, i == 2) && [1, 2].exists_one(i, i == 2)",
        "true",
    );
    check("[1, 0].exists(i, 2 / i > 1) && ![0, 1].all(i, 1 / i > 1)", "true");
    check("[0, 2].all(i, 1 / i < 1)", "error: division by zero");
    check("{'a': 1, 'b': 2}.all(k, v, k != '' && v > 0)", "true");
    check("[5, 6].transformList(i, v, i + v)", "[5, 7]");
    check("{'a': 1}.transformMap(k, v, v + 1)", "{a: 2}");
    check("{'a': 1}.transformMapEntry(k, v, {v: k})", "{1: a}");
    check("has({'a': 1}.a) && !has({'a': 1}.b)", "true");
    check("{'a': 1}.?b.orValue(5) + {'a': 1}.?a.orValue(5)", "6");
    check("optional.of(1).hasValue() && !optional.none().hasValue()", "true");
    check("optional.of(2).optMap(v, v * 2).value()", "4");
    check("optional.none().or(optional.of(3)).value()", "3");
    check("[1, 2][?5].orValue(9)", "9");
    check("[?optional.of(1), ?optional.none()].size()", "1");
    check("optional.none().value()", "error: optional.none() dereference");
    check("['b', 'a'].sortBy(e, e)", "[a, b]");
}

#[test]
fn values_are_named_where_that_is_known() {
    let run = |expression: &str| {
        let program = Environment::new().with_bindings().compile(expression).unwrap();
        let evaluation = program.evaluate(&[], PER_CALL_LIMIT);
        let shown = match evaluation.result {
            Ok(value) => functions::format::plain(&value),
            Err(fault) => format!("error: {}", fault.message()),
        };
        (shown, evaluation.cost)
    };
    let nested = "cel.bind(a, 'hello', cel.bind(b, 'world', a + b + b + a))";
    // A name has no cost, each use of it 1, and each of the three sums costs by its length.
    assert_eq!(run(nested), ("helloworldworldhello".to_owned(), 4 + 1 + 2 + 2));
    assert_eq!(run("cel.bind(a, [1, 2], a.exists(b, b == 2))").0, "true");
    assert_eq!(run("cel.bind(a, 1 / 0, a)").0, "error: division by zero");
    let known = Environment::new()
        .with_bindings()
        .compile("cel.bind(a, 1, b)")
        .unwrap_err();
    assert!(known.contains("undeclared reference to 'b'"), "{known}");
    assert!(rendered("cel.bind(a, 1, a)").contains("undeclared reference to 'cel'"));
}

#[test]
fn texts() {
    check("'hello'.charAt(1) + 'hello'.substring(1, 3)", "eel");
    check("'hello'.indexOf('l') + 'hello'.lastIndexOf('l')", "5");
    check("'a,b,c'.split(',').join('-') + 'abc'.split('').join('.')", "a-b-ca.b.c");
    check(
        "'aXbX'.replace('X', '') + ' t '.trim() + 'Ab'.lowerAscii() + 'Ab'.upperAscii()",
        "abtabAB",
    );
    check(
        "'%d %s %.2f %x %b%%'.format([dyn(1), 'a', 1.5, 255, 5])",
        "1 a 1.50 ff 101%",
    );
    check("strings.quote('a\"b')", "\"a\\\"b\"");
    check("'abc'.matches('^a.c$') && 'a1b22'.find('[0-9]+') == '1'", "true");
    check("'a1b22'.findAll('[0-9]+')", "[1, 22]");
    check("'abc'.charAt(9)", "error: index out of range: 9");
    check(
        "string(1.5) + string(duration('90s')) + string(timestamp('2020-01-01T00:00:00Z'))",
        "1.590s2020-01-01T00:00:00Z",
    );
    check("int('12') + int(1.9) + int(3u)", "16");
    check("double('1.5') == 1.5 && bool('true') && uint(3) == 3u", "true");
}

#[test]
fn libraries() {
    check(
        "[1, 2].isSorted() && [1, 2, 3].sum() == 6 && [3, 1].min() == 1 && [3, 1].max() == 3",
        "true",
    );
    check("[1, 2, 1].indexOf(1) + [1, 2, 1].lastIndexOf(1)", "2");
    check(
        "sets.contains([1, 2], [1]) && sets.equivalent([1, 1], [1]) && sets.intersects([1], [1, 2])",
        "true",
    );
    check(
        "[[1], [2, 3]].flatten() + lists.range(2) + [3, 3].distinct() + [2, 1].sort()",
        "[1, 2, 3, 0, 1, 3, 1, 2]",
    );
    check("[1, 2, 3].slice(1, 3).reverse()", "[3, 2]");
    check(
        "url('https://u@h:80/p/q?a=1&a=2').getHost() + url('https://h:80/p').getPort()",
        "h:8080",
    );
    check("url('https://h/p?a=1&a=2').getQuery()['a']", "[1, 2]");
    check("isURL('/x') && !isURL('x')", "true");
    check("ip('10.0.0.1').family() == 4 && isIP('::1') && !isIP('1.2.3')", "true");
    check(
        "cidr('10.0.0.0/8').containsIP('10.1.2.3') && cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')",
        "true",
    );
    check(
        "string(cidr('10.1.2.3/8').masked()) + string(cidr('10.1.2.3/8').ip())",
        "10.0.0.0/810.1.2.3",
    );
    check(
        "quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('1').add(1).asInteger() == 2",
        "true",
    );
    check(
        "quantity('500m').compareTo(quantity('0.5')) == 0 && !quantity('1m').isInteger()",
        "true",
    );
    check(
        "semver('1.2.3').isLessThan(semver('1.10.0')) && isSemver('v1.2', true) && !isSemver('1.2')",
        "true",
    );
    check("format.dns1123Label().validate('a-b').hasValue()", "false");
    // As schemas treat it: padding bits after the last byte are ignored, and an empty string is not base64.
    check("format.byte().validate('aa==').hasValue()", "false");
    check("format.byte().validate('').value()", "[invalid base64]");
    check(
        "format.named('uuid').value().validate('x').value()",
        "[does not match the UUID format]",
    );
    check("timestamp('2021-03-04T05:06:07Z').getMonth()", "2");
    check("timestamp('2021-03-04T05:06:07Z').getHours('+02:00')", "7");
    check("duration('1h30m').getMinutes()", "90");
    check(
        "timestamp('2021-01-02T00:00:00Z') - timestamp('2021-01-01T00:00:00Z') == duration('24h')",
        "true",
    );
}

#[test]
fn problems_are_shown_where_they_are() {
    let starts = "'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER";
    check(
        "x >",
        &format!("ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {{{starts}}}\n | x >\n | ...^"),
    );
    check(
        "x y",
        "ERROR: <input>:1:3: Syntax error: extraneous input 'y' expecting <EOF>\n | x y\n | ..^",
    );
    check(
        "(x",
        "ERROR: <input>:1:3: Syntax error: missing ')' at '<EOF>'\n | (x\n | ..^",
    );
    check(
        "y",
        "ERROR: <input>:1:1: undeclared reference to 'y' (in container '')\n | y\n | ^",
    );
    check("for", "ERROR: <input>:1:1: reserved identifier: for\n | for\n | ^");
    check(
        "1 + 'a'",
        "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n | 1 + 'a'\n | ..^",
    );
    check(
        "'a'.size() == 'b'.nope()",
        "ERROR: <input>:1:23: undeclared reference to 'nope' (in container '')\n | 'a'.size() == 'b'.nope()\n | ......................^",
    );
    check(
        "[1, 'a']",
        "ERROR: <input>:1:5: expected type 'int' but found 'string'\n | [1, 'a']\n | ....^",
    );
    check(
        "1 && true",
        "ERROR: <input>:1:1: expected type 'bool' but found 'int'\n | 1 && true\n | ^",
    );
    check(
        "duration('x')",
        "ERROR: <input>:1:10: invalid duration argument\n | duration('x')\n | .........^",
    );
    check(
        "'a'.matches('(')",
        "ERROR: <input>:1:13: invalid matches argument\n | 'a'.matches('(')\n | ............^",
    );
    for (expression, column, problem) in [
        ("'%d %s'.format([1])", 15, "index 1 out of range"),
        (
            "'x'.format([1])",
            11,
            "too many arguments supplied to string.format (expected 0, got 1)",
        ),
        ("'%'.format([])", 11, "unexpected end of string"),
        (
            "'%z'.format([1])",
            12,
            "could not parse formatting clause: unrecognized formatting clause \"z\"",
        ),
        (
            "'%.2'.format([1])",
            13,
            "could not parse formatting clause: error while parsing precision: could not find end of precision \
             specifier",
        ),
        (
            "'%d'.format(['x'])",
            14,
            "error during formatting: decimal clause can only be used on integers, was given string",
        ),
        (
            "'%s'.format([[optional.none()]])",
            28,
            "error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, \
             lists, types, durations, and timestamps, was given optional_type",
        ),
    ] {
        let marker = ".".repeat(column - 1);
        check(
            expression,
            &format!("ERROR: <input>:1:{column}: {problem}\n | {expression}\n | {marker}^"),
        );
    }
    check(
        "[1].map(1, 2)",
        "ERROR: <input>:1:9: argument is not an identifier\n | [1].map(1, 2)\n | ........^",
    );
    check(
        "has(x)",
        "ERROR: <input>:1:5: invalid argument to has() macro\n | has(x)\n | ....^",
    );
    check(
        "1.map(i, i)",
        "ERROR: <input>:1:1: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)\n | 1.map(i, i)\n | ^",
    );
}

fn schema(rules: &Json) -> Json {
    json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "a": {"type": "integer"},
        "s": {"type": "string", "maxLength": 5},
        "keep": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "at": {"type": "string", "format": "date-time"},
        "a-b": {"type": "integer"},
        "namespace": {"type": "string"},
        "q": {"x-kubernetes-int-or-string": true},
    }, "x-kubernetes-validations": rules}}})
}

fn complaints(rules: &Json, document: &Json, old: Option<&Json>) -> Vec<String> {
    let schema = Structural::compile(&schema(rules));
    let rules = Rules::compile(&schema);
    let mut errors = FieldErrors::default();
    rules.check(&schema, document, old, &mut errors);
    let warnings = errors.take_tolerated();
    let warnings = warnings.iter().map(|warning| format!("warning: {warning}"));
    let errors = errors.as_slice().iter().map(|error| error.message());
    errors.chain(warnings).collect()
}

#[test]
fn rules_see_what_the_schema_says() {
    let document = json!({"spec": {"a": 1, "set": ["x", "y"], "at": "2020-01-01T00:00:00Z", "a-b": 2, "namespace": "n",
                                   "q": "50%"}});
    for rule in [
        "self.set == ['y', 'x']",
        "self.at.getFullYear() == 2020",
        "self.a__dash__b == 2 && self.__namespace__ == 'n'",
        "type(self.q) == string && self.q == '50%'",
        "!has(self.s) && self.?s.orValue('d') == 'd'",
        "self.set.isSorted() && !has(self.keep)",
    ] {
        assert_eq!(complaints(&json!([{"rule": rule}]), &document, None), [""; 0], "{rule}");
    }
    let missing = complaints(&json!([{"rule": "self.s == 'x'"}]), &document, None);
    assert_eq!(
        missing,
        ["spec: Invalid value: \"object\": no such key: s evaluating rule: self.s == 'x'"]
    );
    let number = complaints(&json!([{"rule": "self.q < 5"}]), &document, None);
    assert_eq!(
        number,
        [
            "spec: Invalid value: \"object\": 'no such overload': call arguments did not match a supported operator, \
          function or macro signature for rule: self.q < 5"
        ]
    );
}

#[test]
fn defaults_are_judged_as_old_and_as_new() {
    let check = |rules: Json, default: Json| {
        let schema = Structural::compile(&json!({"type": "integer", "x-kubernetes-validations": rules}));
        let mut errors = FieldErrors::default();
        Rules::of_part(&schema, false).check_default(&schema, &default, &mut errors);
        errors.joined().unwrap_or_default()
    };
    assert_eq!(check(json!([{"rule": "self == oldSelf"}]), json!(1)), "");
    assert_eq!(
        check(json!([{"rule": "self > oldSelf"}]), json!(1)),
        "<nil>: Invalid value: 1: failed rule: self > oldSelf"
    );
    let absent = json!([{"rule": "oldSelf.hasValue()", "optionalOldSelf": true}]);
    assert_eq!(
        check(absent, json!(1)),
        "<nil>: Invalid value: 1: failed rule: oldSelf.hasValue()"
    );
    // The error of a fault renders the type.
    assert_eq!(
        check(json!([{"rule": "1 / self == 1"}]), json!(0)),
        "<nil>: Invalid value: \"integer\": division by zero evaluating rule: 1 / self == 1"
    );
}

#[test]
fn unchanged_parts_may_stay_wrong() {
    let rules =
        json!([{"rule": "self.a > 5", "message": "small"}, {"rule": "self.a >= oldSelf.a", "message": "shrinks"}]);
    let (one, two) = (json!({"spec": {"a": 1}}), json!({"spec": {"a": 2}}));
    assert_eq!(complaints(&rules, &one, None), ["spec: Invalid value: small"]);
    assert_eq!(
        complaints(&rules, &one, Some(&one)),
        ["warning: spec: Invalid value: small"]
    );
    assert_eq!(complaints(&rules, &two, Some(&one)), ["spec: Invalid value: small"]);
    assert_eq!(
        complaints(&rules, &one, Some(&two)),
        ["spec: Invalid value: small", "spec: Invalid value: shrinks"]
    );
}

#[test]
fn message_expressions_have_the_plain_old_value_if_a_rule_uses_it() {
    let (three, six) = (json!({"spec": {"a": 3}}), json!({"spec": {"a": 6}}));
    let small = json!({"rule": "self.a > 5", "messageExpression": "oldSelf.a > 5 ? 'was large' : 'was small'"});
    let failed = "spec: Invalid value: failed rule: self.a > 5";
    assert_eq!(complaints(&json!([small]), &three, Some(&six)), [failed]);
    let shrinks = json!({"rule": "self.a > oldSelf.a - 9"});
    assert_eq!(
        complaints(&json!([small, shrinks]), &three, Some(&six)),
        ["spec: Invalid value: was large"]
    );
    assert_eq!(complaints(&json!([small, shrinks]), &three, None), [failed]);
    let optional = json!({"rule": "oldSelf.hasValue() && self.a < 0", "optionalOldSelf": true,
                          "messageExpression": "oldSelf.hasValue() ? 'had one' : 'had none'"});
    for old in [None, Some(&six)] {
        assert_eq!(
            complaints(&json!([optional]), &three, old),
            ["spec: Invalid value: failed rule: oldSelf.hasValue() && self.a < 0"]
        );
    }
}

#[test]
fn elements_of_keyed_lists_are_compared_with_those_of_the_same_keys() {
    let schema = Structural::compile(&json!({"type": "object", "properties": {"list": {
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
        "items": {"type": "object",
                  "properties": {"name": {"type": "string", "nullable": true}, "a": {"type": "integer"}},
                  "x-kubernetes-validations": [{"rule": "self.a > 5", "message": "small"},
                                               {"rule": "self.a >= oldSelf.a", "message": "shrinks"}]}}}}));
    let rules = Rules::compile(&schema);
    let check = |new: Json, old: Json| {
        let mut errors = FieldErrors::default();
        let (new, old) = (json!({ "list": new }), json!({ "list": old }));
        rules.check(&schema, &new, Some(&old), &mut errors);
        let warnings = errors.take_tolerated();
        let warnings = warnings.iter().map(|warning| format!("warning: {warning}"));
        let errors = errors.as_slice().iter().map(FieldError::message);
        errors.chain(warnings).collect::<Vec<_>>()
    };
    let old = json!([{"name": "x", "a": 9}, {"name": "y", "a": 1}]);
    assert_eq!(
        check(json!([{"name": "y", "a": 1}, {"name": "x", "a": 8}]), old.clone()),
        [
            "list[1]: Invalid value: shrinks",
            "warning: list[0]: Invalid value: small"
        ]
    );
    assert_eq!(
        check(json!([{"name": "z", "a": 1}]), old),
        ["list[0]: Invalid value: small"]
    );
    // Without keys, elements cannot be correlated.
    let small = "list[0]: Invalid value: small";
    assert_eq!(check(json!([{"a": 1}]), json!([{"a": 2}])), [small]);
    assert_eq!(
        check(json!([{"name": null, "a": 1}]), json!([{"name": null, "a": 2}])),
        [small]
    );
}

#[test]
fn a_rule_that_runs_too_long_is_stopped() {
    let rules =
        json!([{"rule": "lists.range(3000).all(i, lists.range(3000).all(j, i + j >= 0))"}, {"rule": "self.a > 5"}]);
    let found = complaints(&rules, &json!({"spec": {"a": 1}}), None);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("'operation cancelled: actual cost limit exceeded': no further"),
        "{found:?}"
    );
}

#[test]
fn policies_know_their_names() {
    use crate::policy::{PolicyEnvironment, PolicyVariables};
    let known = PolicyVariables {
        variables: true,
        authorizer: true,
        ..PolicyVariables::default()
    };
    let mut environment = PolicyEnvironment::new(known);
    environment.declare("a", &Type::Int);
    let bool = [Type::Bool];
    let said = |expression: &str, results: &[Type]| {
        let refused = environment.compile(expression, results).err();
        refused.map(policy::CompileError::into_message).unwrap_or_default()
    };
    assert_eq!(
        said(
            "object.spec.x > 1 && variables.a == 1 && request.operation == 'CREATE'",
            &bool
        ),
        ""
    );
    assert_eq!(
        said("authorizer.group('').resource('pods').check('get').allowed()", &bool),
        ""
    );
    assert_eq!(said("authorizer.requestResource.check('get').allowed()", &bool), "");
    assert_eq!(said("'a'", &bool), "must evaluate to bool but got string");
    assert_eq!(
        said("1", &[Type::String, Type::Null]),
        "must evaluate to one of [string null_type] but got int"
    );
    assert!(said("params.x", &bool).contains("undeclared reference to 'params'"));
    assert!(said("variables.b", &[]).contains("<input>:1:10: undefined field 'b'"));
    let of_patches = said("jsonpatch.escapeKey('a') == 'a'", &bool);
    assert!(of_patches.contains("<input>:1:1: undeclared reference to 'jsonpatch'"));
    assert!(of_patches.contains("<input>:1:20: undeclared reference to 'escapeKey'"));
    let mut mutating = environment.clone();
    mutating.allow_objects();
    assert!(mutating.compile("jsonpatch.escapeKey('a') == 'a'", &bool).is_ok());
}

#[test]
fn constant_parts_that_fail_are_refused() {
    use crate::policy::{CompileError, PolicyEnvironment, PolicyVariables};
    let environment = PolicyEnvironment::new(PolicyVariables::default());
    let conversion = |to: &str| format!("type conversion error from 'string' to '{to}'");
    for (part, problem) in [
        (
            "'a'.find('(') == ''",
            "error parsing regexp: missing closing ): `(`".to_owned(),
        ),
        (
            "'a'.findAll('[', 1).size() == 1",
            "error parsing regexp: missing closing ]: `[`".to_owned(),
        ),
        ("int('x') == 1", conversion("int")),
        ("bool(string('x'))", conversion("bool")),
        ("uint(-1) == 1u", "unsigned integer overflow".to_owned()),
    ] {
        let problem = format!("program instantiation failed: {problem}");
        let expression = format!("true || {part}");
        let refused = environment.compile(&expression, &[Type::Bool]).unwrap_err();
        let mut errors = FieldErrors::default();
        refused.clone().report(&mut errors, "expression", &expression);
        assert_eq!(refused, CompileError::Internal(problem.clone()));
        assert_eq!(
            errors.joined().unwrap(),
            format!("expression: Internal error: {problem}")
        );
        assert_eq!(
            complaints(&json!([{"rule": expression}]), &json!({"spec": {}}), None),
            [format!(
                "spec: Invalid value: \"object\": rule compile error: {problem}"
            )]
        );
    }
    let typed_first = environment.compile("'a'.find('(')", &[Type::Bool]).unwrap_err();
    assert_eq!(typed_first.into_message(), "must evaluate to bool but got string");
    let sound = "'a'.find(object.a) == '' && int(object.a) == int('7') && 'a'.matches('a')";
    assert!(environment.compile(sound, &[Type::Bool]).is_ok());
}

/// Compares with kube-apiserver's recorded answers to definitions with invalid rules.
#[test]
fn recorded_complaints_about_definitions() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/golden/public/crd/crd-cel-errors.json"
    );
    let Ok(recorded) = std::fs::read(path) else {
        println!("skipped: no recorded answers in ../shared");
        return;
    };
    let recorded: Json = serde_json::from_slice(&recorded).unwrap();
    let mut compared = 0;
    for step in recorded["steps"].as_array().unwrap() {
        let schema = &step["body"]["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        let causes = step["expect"]["body"]["details"]["causes"].as_array();
        // Malformed rules are reported by the schema validation.
        let malformed = ["must be", "must not", "not specified", "Unsupported", "message must"];
        let text = |cause: &Json| {
            format!(
                "{}: {}",
                cause["field"].as_str().unwrap(),
                cause["message"].as_str().unwrap()
            )
        };
        let expected: Vec<String> = causes.into_iter().flatten().map(text).collect();
        let is_ours = |text: &String| text.contains("evaluate") || !malformed.iter().any(|part| text.contains(part));
        if !schema.is_object() || expected.is_empty() || !expected.iter().all(is_ours) {
            continue;
        }
        let mut errors = FieldErrors::default();
        definition::check(
            schema,
            definition::CheckContext::default(),
            &mut errors.at("spec.validation.openAPIV3Schema"),
        );
        let found: Vec<String> = errors.as_slice().iter().map(|error| error.message()).collect();
        assert_eq!(found, expected, "{}", step["id"]);
        compared += 1;
    }
    assert!(compared > 12, "only {compared}");
}
