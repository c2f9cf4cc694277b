//! What calls cost, counted while evaluating.

use super::{LIST, PATTERN, QUESTION, TEXT, scaled};
use crate::value::{Library, Value};

/// What a form of a function costs; found once, when the tables of functions are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Price {
    /// Nothing before the call; its result is a text that is paid for.
    Nothing,
    /// 1.
    One,
    /// A question to the authorizer.
    Question,
    /// Going over all of the first argument.
    Traversal,
    /// Going over the first argument as a text once, or twice.
    Text,
    TextTwice,
    /// Looking for a pattern.
    Pattern,
    /// Looking for an address or a network in a network; whether it must be read from a text first.
    Address,
    AddressText,
    Network,
    NetworkText,
    /// Checking a named format.
    Format,
    /// Looking for an element.
    Search,
    /// Comparing two values, of which those of libraries are small.
    Equality,
    /// Comparing two values.
    Comparison,
    /// Both texts together.
    Sum,
    /// Both texts, for each character of the other.
    Product,
    /// Elements of two lists, for each of the other, so many times.
    Lists(u8),
    /// Making a list, whose elements are paid for when they are there.
    List,
    /// Making a list as long as the first argument.
    Copy,
    /// The same for each level.
    Flatten,
    /// Comparing the elements of this argument with each other.
    Sort(u8),
}

impl Price {
    /// The price of the form `id` of the function `name`.
    pub(crate) fn of(name: &str, id: &str) -> Self {
        match name {
            "check" => return Price::Question,
            "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => return Price::Traversal,
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
            | "isSemver" => return Price::Text,
            "replace" | "split" | "ip.isCanonical" => return Price::TextTwice,
            "join" => return Price::Nothing,
            "find" | "findAll" => return Price::Pattern,
            "ip" if id != "cidr_ip" => return Price::Text,
            "containsIP" if id.ends_with("_string") => return Price::AddressText,
            "containsIP" => return Price::Address,
            "containsCIDR" if id.ends_with("_string") => return Price::NetworkText,
            "containsCIDR" => return Price::Network,
            "validate" => return Price::Format,
            _ => {}
        }
        match id {
            "starts_with_string" | "ends_with_string" | "string_to_bytes" | "bytes_to_string" | "strings_quote"
            | "string_format" => Price::Text,
            "in_list" => Price::Search,
            "equals" => Price::Equality,
            "less_string"
            | "greater_string"
            | "less_equals_string"
            | "greater_equals_string"
            | "less_bytes"
            | "greater_bytes"
            | "less_equals_bytes"
            | "greater_equals_bytes"
            | "not_equals" => Price::Comparison,
            "add_string" | "add_bytes" => Price::Sum,
            "matches_string" => Price::Pattern,
            "contains_string" => Price::Product,
            "list_sets_contains_list" | "list_sets_intersects_list" => Price::Lists(1),
            "list_sets_equivalent_list" => Price::Lists(2),
            "list_slice" | "lists_range" => Price::List,
            "list_reverse" | "list_flatten" => Price::Copy,
            "list_flatten_int" => Price::Flatten,
            "list_distinct" => Price::Sort(0),
            id if id.ends_with("_sort") => Price::Sort(0),
            id if id.ends_with("_sortByAssociatedKeys") => Price::Sort(1),
            _ => Price::One,
        }
    }

    /// What a call costs as far as its arguments tell; counted before it is made, so that an expensive one never is.
    pub(crate) fn before(self, args: &[Value<'_>]) -> u64 {
        let size = |index: usize| args.get(index).map_or(1, Value::size);
        let over = |index: usize| scaled(size(index), TEXT);
        match self {
            Price::Nothing => 0,
            Price::One => 1,
            Price::Question => QUESTION,
            Price::Traversal => args.first().map_or(0, |value| traversal(value, &mut { MAX_PARTS })),
            Price::Text => over(0),
            Price::TextTwice => scaled(size(0), 2.0 * TEXT),
            Price::Pattern => {
                let text = scaled(size(0).saturating_add(1), TEXT);
                text.saturating_mul(scaled(size(1), PATTERN))
            }
            Price::Address => twice(size(0)),
            Price::AddressText => twice(size(0)) + over(1),
            Price::Network => twice(size(0)) + over(0) + 1,
            Price::NetworkText => twice(size(0)) + over(0) + 1 + over(1),
            Price::Format => match args.first() {
                Some(Value::Library(Library::Format(format))) => {
                    let text = scaled(size(1).saturating_add(1), TEXT);
                    text.saturating_mul(scaled(format.pattern_size, PATTERN))
                }
                _ => 1,
            },
            Price::Search => size(1),
            Price::Equality if matches!(args.first(), Some(Value::Library(_))) => 1,
            Price::Equality | Price::Comparison => scaled(size(0).min(size(1)), TEXT),
            Price::Sum => scaled(size(0).saturating_add(size(1)), TEXT),
            Price::Product => over(0).saturating_mul(over(1)),
            Price::Lists(times) => {
                let pairs = size(0).saturating_mul(size(1));
                pairs.saturating_mul(times.into()).saturating_add(1)
            }
            Price::List => LIST + 1,
            Price::Copy => size(0).saturating_add(LIST + 1),
            Price::Flatten => match args.get(1) {
                Some(Value::Int(depth)) => {
                    let depth = u64::try_from(*depth).unwrap_or_default();
                    size(0).saturating_mul(depth).saturating_add(LIST + 1)
                }
                _ => 1,
            },
            Price::Sort(index) => compared(args.get(usize::from(index))),
        }
    }

    /// What a call costs beyond that, for its result.
    pub(crate) fn after(self, result: &Value<'_>) -> u64 {
        match self {
            Price::Nothing => scaled(result.size(), 2.0 * TEXT),
            Price::List => result.size(),
            _ => 0,
        }
    }
}

fn twice(size: u64) -> u64 {
    scaled(size.saturating_mul(2), TEXT)
}

/// What comparing all elements of a list with each other costs.
fn compared(list: Option<&Value<'_>>) -> u64 {
    let Some(Value::List(list)) = list else { return 1 };
    let is_text = matches!(list.get(0), Some(Ok(Value::String(_) | Value::Bytes(_))));
    let size = list.len() as u64;
    let factor = if is_text { 2.0 + TEXT } else { 2.0 };
    scaled(size.saturating_mul(size), factor).saturating_add(LIST + 1)
}

/// How many parts of a value are counted before it is beyond all limits.
const MAX_PARTS: u64 = 4_000_000;

/// What going over a whole value costs; parts that values share are gone over again.
fn traversal(value: &Value<'_>, parts_left: &mut u64) -> u64 {
    *parts_left = parts_left.saturating_sub(1);
    let mut sum = |values: &mut dyn Iterator<Item = Value<'_>>| {
        let mut total: u64 = 0;
        for value in values {
            if *parts_left == 0 {
                return u64::MAX;
            }
            total = total.saturating_add(traversal(&value, parts_left));
        }
        total
    };
    match value {
        Value::String(text) => text.len() as u64 / 10,
        Value::Bytes(bytes) => bytes.len() as u64 / 10,
        Value::List(list) => sum(&mut list.iter().flatten()),
        Value::Map(map) => {
            let entries = map.entries().unwrap_or_default();
            sum(&mut entries.into_iter().flat_map(|(key, value)| [key, value]))
        }
        _ => 1,
    }
}
