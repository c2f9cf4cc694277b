//! The rule that the parts of a list or map in an expression have one type.

use crate::ast::{Expr, Node, walk_into};
use crate::checker::Checked;
use crate::source::{Position, Source};
use crate::types::Type;

/// The function whose arguments are free of the rule.
const FORMAT: &str = "format";

/// Reports lists and maps in `expr` whose elements, keys or values have types that differ from those of the first ones. One problem
/// of a list is reported, and all of a map, as in kube-apiserver.
pub(crate) fn check(expr: &Expr, checked: &Checked, source: &mut Source) {
    walk_into(expr, &mut |expr| {
        let type_of = |part: &Expr, is_optional: bool| {
            let ty = checked.type_of(part);
            if is_optional { ty.unwrapped().0 } else { ty }
        };
        match &expr.node {
            Node::Call(call) if call.function == FORMAT => return false,
            Node::List(elements) => {
                let elements = elements.iter();
                let typed = elements.map(|element| (element.value.at, type_of(&element.value, element.is_optional)));
                if let Some(mismatch) = mismatches(typed).into_iter().next() {
                    source.report(mismatch.0, mismatch.1);
                }
            }
            Node::Map(entries) => {
                let keys = entries.iter().map(|entry| (entry.key.at, type_of(&entry.key, false)));
                let values = entries.iter();
                let values = values.map(|entry| (entry.value.at, type_of(&entry.value, entry.is_optional)));
                for (at, problem) in mismatches(keys).into_iter().chain(mismatches(values)) {
                    source.report(at, problem);
                }
            }
            _ => {}
        }
        true
    });
}

/// The problems of parts whose types differ from that of the first one.
fn mismatches<'t>(mut parts: impl Iterator<Item = (Position, &'t Type)>) -> Vec<(Position, String)> {
    let Some((_, expected)) = parts.next() else {
        return Vec::new();
    };
    let others = parts.filter(|(_, found)| *found != expected);
    let problem = |(at, found)| (at, format!("expected type '{expected}' but found '{found}'"));
    others.map(problem).collect()
}

#[cfg(test)]
mod tests {
    use crate::program::Environment;
    use crate::types::Type;

    #[test]
    fn parts_of_lists_and_maps_have_one_type_except_in_formats() {
        let environment = Environment::new().with("any", Type::Dyn).with("s", Type::String);
        for fine in [
            "'%s has %d'.format(['a', 1]) == ''",
            "'%s'.format([{'a': 1, 2: 'b'}]) == ''",
            "[1, 2] == []",
            "['a', s] == []",
            "[[], [1]] == []",
            "[any, any] == []",
            "[?optional.of(1), 2] == []",
        ] {
            assert!(environment.compile(fine).is_ok(), "{fine}");
        }
        for (refused, problem) in [
            ("[1, 'a', 2.0] == []", "1:5: expected type 'int' but found 'string'"),
            ("'a' in ['a', any]", "1:14: expected type 'string' but found 'dyn'"),
            ("[any, 'a'] == []", "1:7: expected type 'dyn' but found 'string'"),
            (
                "{'a': 1, 'b': 'c'} == {}",
                "1:15: expected type 'int' but found 'string'",
            ),
            ("{'a': 1, 2: 3} == {}", "1:10: expected type 'string' but found 'int'"),
        ] {
            let error = environment.compile(refused).unwrap_err();
            assert!(
                error.starts_with(&format!("ERROR: <input>:{problem}")),
                "{refused}: {error}"
            );
        }
    }
}
