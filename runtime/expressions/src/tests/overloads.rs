//! Each overload of each function, with results that follow from the CEL specification and from Kubernetes' documentation
//! of its libraries.

mod core;
mod libraries;
mod lists;

use std::collections::BTreeSet;

use super::{check, rendered};
use crate::functions::ids;

/// The identifier of an overload, an expression that calls it, and the result.
type Case = (&'static str, &'static str, &'static str);

/// Pairs of types that can be compared, and a smaller and a larger value of each.
const ORDERED: &[(&str, [&str; 2], [&str; 2])] = &[
    ("bool", ["false", "true"], ["false", "true"]),
    ("int64", ["1", "2"], ["1", "2"]),
    ("int64_double", ["1", "2"], ["1.0", "2.0"]),
    ("int64_uint64", ["1", "2"], ["1u", "2u"]),
    ("uint64", ["1u", "2u"], ["1u", "2u"]),
    ("uint64_double", ["1u", "2u"], ["1.0", "2.0"]),
    ("uint64_int64", ["1u", "2u"], ["1", "2"]),
    ("double", ["1.5", "2.5"], ["1.5", "2.5"]),
    ("double_int64", ["1.0", "2.0"], ["1", "2"]),
    ("double_uint64", ["1.0", "2.0"], ["1u", "2u"]),
    ("string", ["'a'", "'b'"], ["'a'", "'b'"]),
    ("bytes", ["b'a'", "b'b'"], ["b'a'", "b'b'"]),
    (
        "timestamp",
        ["timestamp(1)", "timestamp(2)"],
        ["timestamp(1)", "timestamp(2)"],
    ),
    (
        "duration",
        ["duration('1s')", "duration('2s')"],
        ["duration('1s')", "duration('2s')"],
    ),
];

/// The comparisons, with their results for a smaller, an equal and a larger left operand.
const COMPARISONS: [(&str, &str, [bool; 3]); 4] = [
    ("less", "<", [true, false, false]),
    ("less_equals", "<=", [true, true, false]),
    ("greater", ">", [false, false, true]),
    ("greater_equals", ">=", [false, true, true]),
];

const TABLES: [&[Case]; 6] = [
    core::OPERATORS,
    core::CONVERSIONS,
    core::STRINGS,
    lists::LISTS,
    libraries::TIMES,
    libraries::KUBERNETES,
];

#[test]
fn functions_return_what_the_specification_says() {
    let cases = TABLES.into_iter().flatten();
    let wrong = cases.filter_map(|(_, expression, expected)| {
        let found = rendered(expression);
        (found != *expected).then(|| format!("{expression}\n  is {found}\n  expected {expected}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn values_are_compared_by_their_order() {
    for (_, left, right) in ORDERED {
        for (_, operator, results) in COMPARISONS {
            let cases = [(left[0], right[1]), (left[0], right[0]), (left[1], right[0])];
            for ((left, right), expected) in cases.into_iter().zip(results) {
                check(&format!("{left} {operator} {right}"), &expected.to_string());
            }
        }
    }
}

#[test]
fn every_overload_has_a_case() {
    let mut tested: BTreeSet<String> = TABLES.into_iter().flatten().map(|(id, ..)| (*id).to_owned()).collect();
    let comparisons = COMPARISONS
        .iter()
        .flat_map(|(operator, ..)| ORDERED.iter().map(move |(types, ..)| format!("{operator}_{types}")));
    tested.extend(comparisons);
    // Tests of policies call the authorizer.
    let authorizer = |id: &str| id.starts_with("authorizer") || id.contains("check_") || id.starts_with("decision");
    let all: BTreeSet<String> = ids().filter(|id| !authorizer(id)).map(str::to_owned).collect();
    let untested: Vec<&String> = all.difference(&tested).collect();
    let unknown: Vec<&String> = tested.difference(&all).collect();
    assert!(
        untested.is_empty() && unknown.is_empty(),
        "without a case: {untested:?}; not functions: {unknown:?}"
    );
}
