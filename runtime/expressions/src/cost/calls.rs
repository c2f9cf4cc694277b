//! Cost and result size estimates of function calls.

use super::estimate::{Argument, Estimator};
use super::{MAX_FORMAT_PATTERN, Range};
use crate::ast::{Literal, Node};
use crate::price::{LIST, PATTERN, QUESTION, TEXT};
use crate::types::Type;

type Estimate = (Range, Option<Range>);

/// Returns the estimated cost and size of a call; `None` for functions that cost 1 and whose result size is irrelevant.
pub(super) fn estimate(
    estimator: &Estimator<'_>,
    function: &str,
    id: &str,
    target: Option<&Argument<'_>>,
    args: &[Argument<'_>],
) -> Option<Estimate> {
    let size = |argument: &Argument<'_>| {
        let declared = || estimator.declared_size(&argument.path);
        argument.size.or_else(declared).unwrap_or(Range::UNKNOWN)
    };
    let target_size = target.map(size);
    let sizes: Vec<Range> = args.iter().map(size).collect();
    let first = sizes.first().copied();
    if let Some(estimate) = lists(id, target_size, args, &sizes) {
        return Some(estimate);
    }
    Some(match function {
        "check" => (Range::fixed(QUESTION), None),
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => {
            let target = target?;
            let size = target_size?;
            let Type::List(element) = target.ty else {
                return Some((size.by(TEXT), None));
            };
            let mut each = Range::ONE;
            if matches!(**element, Type::String | Type::Bytes) {
                each = each.plus(element_size(estimator, target).by(TEXT));
            }
            (size.times(each), None)
        }
        "url" | "jsonpatch.escapeKey" => (first?.by(TEXT), None),
        "lowerAscii" | "upperAscii" | "substring" | "trim" => (target_size?.by(TEXT), target_size),
        "replace" => replaced(target_size?, *sizes.first()?, *sizes.get(1)?),
        "split" => {
            let size = target_size?;
            let limit = args.get(1).and_then(|arg| match &arg.expr.node {
                Node::Literal(Literal::Int(limit)) => u64::try_from(*limit).ok(),
                _ => None,
            });
            let most = limit.unwrap_or(size.max);
            (size.by(2.0 * TEXT), Some(Range { min: 0, max: most }))
        }
        "join" => {
            let (target, count) = (target?, target_size?);
            let mut size = match target.ty {
                Type::List(_) => count.times(element_size(estimator, target)),
                _ => Range::NONE,
            };
            if let Some(separator) = first {
                let separators = Range {
                    min: count.min.saturating_sub(1),
                    max: count.max.saturating_sub(1),
                };
                size = size.plus(separator.times(separators));
            }
            (size.by(TEXT), Some(size))
        }
        "find" | "findAll" => {
            let size = target_size?;
            let cost = size.plus(Range::ONE).by(TEXT).times(first?.by(PATTERN));
            (cost, Some(Range { min: 0, max: size.max }))
        }
        "containsIP" | "containsCIDR" => {
            let bytes = Range { min: 4, max: 16 };
            let mut cost = bytes.plus(bytes).by(TEXT);
            if function == "containsCIDR" {
                cost = cost.plus(bytes.by(TEXT)).plus(Range::ONE);
            }
            if id.ends_with("_string") {
                cost = cost.plus(first?.by(TEXT));
            }
            (cost, None)
        }
        "validate" => (first?.by(TEXT).by(MAX_FORMAT_PATTERN * PATTERN), None),
        _ => return standard(id, target_size, args, &sizes),
    })
}

/// Functions of the language itself.
fn standard(id: &str, target: Option<Range>, args: &[Argument<'_>], sizes: &[Range]) -> Option<Estimate> {
    let first = sizes.first().copied();
    Some(match id {
        "string_format" => (target?.by(TEXT), None),
        "string_to_bytes" => {
            let size = first?;
            let result = Range {
                min: size.min,
                max: size.max.saturating_mul(4),
            };
            (size.by(TEXT), Some(result))
        }
        "bytes_to_string" => {
            let size = first?;
            let result = Range {
                min: size.min / 4,
                max: size.max,
            };
            (size.by(TEXT), Some(result))
        }
        "strings_quote" => {
            let size = first?;
            let result = Range {
                min: size.min.saturating_add(2),
                max: size.max.saturating_mul(2).saturating_add(2),
            };
            (size.by(TEXT), Some(result))
        }
        "starts_with_string" | "ends_with_string" => (first?.by(TEXT), None),
        "in_list" => (*sizes.get(1)?, None),
        "matches_string" => (target?.plus(Range::ONE).by(TEXT).times(first?.by(PATTERN)), None),
        "contains_string" => (target?.by(TEXT).times(first?.by(TEXT)), None),
        "equals" if is_constant_size(args) => (Range::ONE, None),
        "less_string"
        | "greater_string"
        | "less_equals_string"
        | "greater_equals_string"
        | "less_bytes"
        | "greater_bytes"
        | "less_equals_bytes"
        | "greater_equals_bytes"
        | "equals"
        | "not_equals" => {
            let [left, right] = sizes else { return None };
            let most = left.max.min(right.max);
            let compared = Range {
                min: u64::from(most > 0),
                max: most,
            };
            (compared.by(TEXT), None)
        }
        _ => return None,
    })
}

/// True if both sides are of a library type with constant comparison cost.
fn is_constant_size(args: &[Argument<'_>]) -> bool {
    let is_small = |ty: &Type| matches!(ty, Type::Library(name) if *name != "kubernetes.URL");
    args.len() == 2 && args[0].ty == args[1].ty && is_small(args[0].ty)
}

fn element_size(estimator: &Estimator<'_>, list: &Argument<'_>) -> Range {
    if list.path.is_empty() {
        return Range::UNKNOWN;
    }
    let mut path = list.path.clone();
    path.push("@items".to_owned());
    estimator.declared_size(&path).unwrap_or(Range::UNKNOWN)
}

fn replaced(size: Range, old: Range, new: Range) -> Estimate {
    let (mut count, mut kept) = (Range::NONE, Range::NONE);
    if old.min == 0 {
        // An empty string matches around every character.
        count.max = size.max.saturating_add(1);
        kept.max = size.max;
    } else if new.max <= old.min {
        kept.max = size.max;
    } else {
        count.max = size.max.div_ceil(old.min);
    }
    if old.max == 0 {
        count.min = size.min.saturating_add(1);
        kept.min = size.min;
    } else if old.max <= new.min {
        kept.min = size.min;
    } else {
        count.min = size.min.div_ceil(old.max);
    }
    (size.by(2.0 * TEXT), Some(count.times(new).plus(kept)))
}

/// Functions that create lists, and set functions.
fn lists(id: &str, target: Option<Range>, args: &[Argument<'_>], sizes: &[Range]) -> Option<Estimate> {
    let literal = |index: usize| {
        args.get(index).and_then(|arg| match &arg.expr.node {
            Node::Literal(Literal::Int(number)) => Some(u64::try_from(*number).unwrap_or_default()),
            _ => None,
        })
    };
    let made = |factor: f64, size: Range| {
        let cost = size.by(factor).plus(Range::fixed(LIST + 1));
        Some((cost, Some(size)))
    };
    let compared = |size: Range, id: &str| {
        let is_text = id.starts_with("list_string") || id.starts_with("list_bytes");
        made(if is_text { 2.0 + TEXT } else { 2.0 }, size.times(size))
    };
    match id {
        "list_sets_contains_list" | "list_sets_intersects_list" => {
            Some((sizes.first()?.times(*sizes.get(1)?).plus(Range::ONE), None))
        }
        "list_sets_equivalent_list" => Some((sizes.first()?.times(*sizes.get(1)?).by(2.0).plus(Range::ONE), None)),
        "list_slice" => {
            let end = literal(1).unwrap_or(target?.max);
            made(1.0, Range::fixed(end.saturating_sub(literal(0).unwrap_or_default())))
        }
        "lists_range" => made(1.0, Range::fixed(literal(0).unwrap_or(u64::MAX))),
        "list_reverse" => made(1.0, target?),
        "list_flatten" => made(1.0, target?),
        #[expect(clippy::cast_precision_loss, reason = "depths are small or unknown")]
        "list_flatten_int" => made(literal(0).unwrap_or(u64::MAX) as f64, target?),
        "list_distinct" => made(2.0, target?.times(target?)),
        sorted if sorted.ends_with("_sort") => compared(target?, sorted),
        sorted if sorted.ends_with("_sortByAssociatedKeys") => compared(*sizes.first()?, sorted),
        _ => None,
    }
}
