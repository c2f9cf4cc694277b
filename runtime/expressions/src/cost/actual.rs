//! What calls cost, counted while evaluating.

use super::{LIST, PATTERN, QUESTION, TEXT, scaled};
use crate::functions::Overload;
use crate::value::{Library, Value};

/// What a call costs as far as its arguments tell; counted before it is made, so that an expensive one never is.
pub(crate) fn before(overload: &Overload, args: &[Value<'_>]) -> u64 {
    let size = |index: usize| args.get(index).map_or(1, Value::size);
    let over = |index: usize| scaled(size(index), TEXT);
    let pattern = |length: u64| scaled(size(0).saturating_add(1), TEXT).saturating_mul(scaled(length, PATTERN));
    match overload.name {
        "check" => return QUESTION,
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => {
            return args.first().map_or(0, traversal);
        }
        "url"
        | "lowerAscii"
        | "upperAscii"
        | "substring"
        | "trim"
        | "jsonpatch.escapeKey"
        | "cidr"
        | "isIP"
        | "isCIDR"
        | "quantity"
        | "isQuantity"
        | "semver"
        | "isSemver" => return over(0),
        "replace" | "split" | "ip.isCanonical" => return scaled(size(0), 2.0 * TEXT),
        "join" => return 0,
        "find" | "findAll" => return pattern(size(1)),
        "ip" if overload.id != "cidr_ip" => return over(0),
        "containsIP" | "containsCIDR" => {
            let mut cost = scaled(size(0).saturating_mul(2), TEXT);
            if overload.name == "containsCIDR" {
                cost += over(0) + 1;
            }
            if overload.id.ends_with("_string") {
                cost += over(1);
            }
            return cost;
        }
        "validate" => {
            if let Some(Value::Library(Library::Format(format))) = args.first() {
                let text = scaled(size(1).saturating_add(1), TEXT);
                return text.saturating_mul(scaled(format.pattern_size, PATTERN));
            }
        }
        _ => {}
    }
    match overload.id {
        "starts_with_string" | "ends_with_string" | "string_to_bytes" | "bytes_to_string" | "strings_quote"
        | "string_format" => over(0),
        "in_list" => size(1),
        "equals" if matches!(args.first(), Some(Value::Library(_))) => 1,
        "less_string"
        | "greater_string"
        | "less_equals_string"
        | "greater_equals_string"
        | "less_bytes"
        | "greater_bytes"
        | "less_equals_bytes"
        | "greater_equals_bytes"
        | "equals"
        | "not_equals" => scaled(size(0).min(size(1)), TEXT),
        "add_string" | "add_bytes" => scaled(size(0).saturating_add(size(1)), TEXT),
        "matches_string" => pattern(size(1)),
        "contains_string" => over(0).saturating_mul(over(1)),
        "list_sets_contains_list" | "list_sets_intersects_list" => size(0).saturating_mul(size(1)).saturating_add(1),
        "list_sets_equivalent_list" => size(0).saturating_mul(size(1)).saturating_mul(2).saturating_add(1),
        "list_slice" | "lists_range" => LIST + 1,
        "list_reverse" | "list_flatten" => size(0).saturating_add(LIST + 1),
        "list_flatten_int" => match args.get(1) {
            Some(Value::Int(depth)) => {
                let depth = u64::try_from(*depth).unwrap_or_default();
                size(0).saturating_mul(depth).saturating_add(LIST + 1)
            }
            _ => 1,
        },
        "list_distinct" => compared(args.first()),
        id if id.ends_with("_sort") => compared(args.first()),
        id if id.ends_with("_sortByAssociatedKeys") => compared(args.get(1)),
        _ => 1,
    }
}

/// What a call costs beyond that, for its result.
pub(crate) fn after(overload: &Overload, result: &Value<'_>) -> u64 {
    match overload.id {
        "list_join" | "list_join_string" => scaled(result.size(), 2.0 * TEXT),
        "list_slice" | "lists_range" => result.size(),
        _ => 0,
    }
}

/// What comparing all elements of a list with each other costs.
fn compared(list: Option<&Value<'_>>) -> u64 {
    let Some(Value::List(list)) = list else { return 1 };
    let is_text = matches!(list.get(0), Some(Ok(Value::String(_) | Value::Bytes(_))));
    let size = list.len() as u64;
    let factor = if is_text { 2.0 + TEXT } else { 2.0 };
    scaled(size.saturating_mul(size), factor).saturating_add(LIST + 1)
}

/// What going over a whole value costs.
fn traversal(value: &Value<'_>) -> u64 {
    match value {
        Value::String(text) => text.len() as u64 / 10,
        Value::Bytes(bytes) => bytes.len() as u64 / 10,
        Value::List(list) => list.iter().flatten().map(|element| traversal(&element)).sum(),
        Value::Map(map) => {
            let entries = map.entries().unwrap_or_default();
            entries
                .iter()
                .map(|(key, value)| traversal(key) + traversal(value))
                .sum()
        }
        _ => 1,
    }
}
