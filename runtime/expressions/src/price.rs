//! The cost of calls, counted during evaluation.
//!
//! The unit and all factors are those of kube-apiserver, so that both servers accept the same rules.

use crate::value::{Library, Value};

/// Cost of one pass over a string, per character.
pub(crate) const TEXT: f64 = 0.1;

/// Cost of a pattern, per character of the pattern.
pub(crate) const PATTERN: f64 = 0.25;

/// Cost of creating a list.
pub(crate) const LIST: u64 = 10;

/// Cost of creating a map.
pub(crate) const MAP: u64 = 30;

/// Cost of creating an object.
pub(crate) const OBJECT: u64 = 40;

/// Cost of an authorizer query.
pub(crate) const AUTHORIZER_QUERY: u64 = 350_000;

/// The price of a function overload, determined once when the function tables are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Price {
    /// Free before the call; the resulting string is charged.
    Nothing,
    /// 1.
    One,
    /// An authorizer query.
    AuthorizerQuery,
    /// A traversal of the whole first argument.
    Traversal,
    /// One pass over the first argument as a string, or two.
    Text,
    TextTwice,
    /// A pattern search.
    Pattern,
    /// A containment test of an address or network in a network, with or without parsing the argument from a string.
    Address,
    AddressText,
    Network,
    NetworkText,
    /// Validation against a named format.
    Format,
    /// A linear search for an element.
    Search,
    /// A comparison of two values; library values count as small.
    Equality,
    /// A comparison of two values.
    Comparison,
    /// The sum of the lengths of both strings.
    Sum,
    /// The product of the lengths of both strings.
    Product,
    /// The product of the lengths of both lists, multiplied by this factor.
    Lists(u8),
    /// Creation of a list; its elements are charged with the result.
    List,
    /// Creation of a list as long as the first argument.
    Copy,
    /// The same, per level of depth.
    Flatten,
    /// A pairwise comparison of the elements of this argument.
    Sort(u8),
}

impl Price {
    /// Returns the price of the overload `id` of the function `name`.
    pub(crate) fn for_overload(name: &str, id: &str) -> Self {
        match name {
            "check" => return Price::AuthorizerQuery,
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

    /// Returns the cost that follows from the arguments, charged before the call so that an expensive call never runs.
    pub(crate) fn before(self, args: &[Value<'_>]) -> u64 {
        let size = |index: usize| args.get(index).map_or(1, Value::size);
        let over = |index: usize| scaled(size(index), TEXT);
        match self {
            Price::Nothing => 0,
            Price::One => 1,
            Price::AuthorizerQuery => AUTHORIZER_QUERY,
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

    /// Returns the additional cost that depends on the result.
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

/// Returns the cost of comparing all elements of a list pairwise.
fn compared(list: Option<&Value<'_>>) -> u64 {
    let Some(Value::List(list)) = list else { return 1 };
    let is_text = matches!(list.get(0), Some(Ok(Value::String(_) | Value::Bytes(_))));
    let size = list.len() as u64;
    let factor = if is_text { 2.0 + TEXT } else { 2.0 };
    scaled(size.saturating_mul(size), factor).saturating_add(LIST + 1)
}

/// The number of parts of a value that are counted before it exceeds all limits.
const MAX_PARTS: u64 = 4_000_000;

/// Returns the cost of traversing a whole value; shared parts are counted each time they occur.
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

/// A multiple, rounded up; saturates at `u64::MAX`.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "costs are rounded so, and saturate"
)]
pub(crate) fn scaled(value: u64, factor: f64) -> u64 {
    (value as f64 * factor).ceil() as u64
}
