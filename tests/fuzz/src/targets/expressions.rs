//! CEL.

use std::rc::Rc;

use planesmith_expressions::{Environment, List, Text, Type, Value};

/// The cost limit of an evaluation, about a hundredth of a second.
const LIMIT: u64 = 200_000;

/// Any input is either refused, or evaluated within its budget.
pub(crate) fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let environment = Environment::new()
        .with("x", Type::Dyn)
        .with("n", Type::Int)
        .with("s", Type::String)
        .with("l", Type::list(Type::Int));
    let Ok(program) = environment.compile(text) else { return };
    let numbers = Rc::new(vec![Value::Int(3), Value::Int(1)]);
    let variables = [
        ("x", Ok(Value::Int(7))),
        ("n", Ok(Value::Int(-3))),
        ("s", Ok(Value::String(Text::Borrowed("a,b")))),
        ("l", Ok(Value::List(List::Owned(numbers)))),
    ];
    drop(program.evaluate(&variables, LIMIT));
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "1 + 2 * 3 - 4 / 2 % 3 == 5 && !(x < 2.5) || s in ['a', 'b']",
        "[1, 2, 3].map(i, i * 2).filter(i, i > 2).exists_one(i, i == 4)",
        "{'a': 1, 'b': 2}.all(k, v, k != '' && v > 0) && has({'a': 1}.a)",
        "s.split(',').join('-').replace('a', 'b').upperAscii().substring(1, 2)",
        "duration('1h30m') > duration('5m') && timestamp('2020-01-01T00:00:00Z').getFullYear('Europe/Berlin') == 2020",
        "quantity('1.5Gi').add(quantity('1')).isGreaterThan(quantity('10M')) && isQuantity('1')",
        "url('https://example.com:80/a?b=c').getHost() == 'x' && isURL(s)",
        "ip('127.0.0.1').family() == 4 && cidr('10.0.0.0/8').containsIP('10.1.2.3')",
        "optional.of(1).optMap(v, v * 2).orValue(n) + {'a': 1}.?b.orValue(5)",
        "'%s %d %.2f %x %b %e'.format([s, n, 1.5, 255, 3, 2.0])",
        "s.matches('^[a-z]+$') && s.findAll('[0-9]+').size() == 0 && s.find('a') == 'a'",
        "lists.range(9).sortBy(i, -i).slice(1, 3).sum() + l.min() + [3, 1].isSorted().size()",
        "semver('1.2.3').compareTo(semver('1.2.4')) < 0 && format.dns1123Label().validate(s).hasValue()",
        "[1, 2].transformMapEntry(i, v, {v: i}) == {1: 0, 2: 1}",
        "b'abc'.size() + size('äö') + int('7') + uint(3).size() + double('1e3') == 0",
        "sets.contains([1, 2], [1]) && sets.intersects([1], [2]) && sets.equivalent([1], [1u])",
        "type(x) == int ? r'\\n' : '''a\"b'''",
    ];
    let mut seeds: Vec<_> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    seeds.push("(".repeat(5_000).into_bytes());
    seeds.push(["x", &" + 1".repeat(2_000)].concat().into_bytes());
    seeds
}
