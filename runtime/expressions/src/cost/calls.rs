//! Cost and result size estimates of function calls.

use super::estimate::{Argument, Estimator};
use super::{MAX_FORMAT_PATTERN, Range};
use crate::ast::{Literal, Node};
use crate::price::{AUTHORIZER_QUERY, LIST, PATTERN, Price, TEXT};
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
    let price = Price::for_overload(function, id);
    Some(match price {
        Price::One | Price::Sum => return None,
        Price::Nothing => joined(estimator, target?, target_size?, first),
        Price::AuthorizerQuery => (Range::fixed(AUTHORIZER_QUERY), None),
        Price::Traversal => (traversed(estimator, target?, target_size?), None),
        Price::Text => return text_estimate(function, id, target_size, first),
        Price::TextTwice => match function {
            "replace" => replaced(target_size?, *sizes.first()?, *sizes.get(1)?),
            "split" => split(target_size?, args),
            _ => (first?.by(2.0 * TEXT), None),
        },
        Price::Pattern => {
            let size = target_size?;
            let cost = size.plus(Range::ONE).by(TEXT).times(first?.by(PATTERN));
            // A match has a truth value; all other searches return parts of the text.
            let found = (id != "matches_string").then_some(Range { min: 0, max: size.max });
            (cost, found)
        }
        Price::Address | Price::AddressText | Price::Network | Price::NetworkText => {
            let bytes = Range { min: 4, max: 16 };
            let mut cost = bytes.plus(bytes).by(TEXT);
            if matches!(price, Price::Network | Price::NetworkText) {
                cost = cost.plus(bytes.by(TEXT)).plus(Range::ONE);
            }
            if matches!(price, Price::AddressText | Price::NetworkText) {
                cost = cost.plus(first?.by(TEXT));
            }
            (cost, None)
        }
        Price::Format => (first?.by(TEXT).by(MAX_FORMAT_PATTERN * PATTERN), None),
        Price::Search => (*sizes.get(1)?, None),
        Price::Equality if is_constant_size(args) => (Range::ONE, None),
        Price::Equality | Price::Comparison => {
            let [left, right] = *sizes else { return None };
            let most = left.max.min(right.max);
            let compared = Range {
                min: u64::from(most > 0),
                max: most,
            };
            (compared.by(TEXT), None)
        }
        Price::Product => (target_size?.by(TEXT).times(first?.by(TEXT)), None),
        Price::Lists(times) => {
            let pairs = first?.times(*sizes.get(1)?).times(Range::fixed(times.into()));
            (pairs.plus(Range::ONE), None)
        }
        Price::List => {
            let (from, end) = (literal(args, 0), literal(args, 1));
            let size = match id {
                "list_slice" => end.unwrap_or(target_size?.max).saturating_sub(from.unwrap_or_default()),
                _ => from.unwrap_or(u64::MAX),
            };
            created(1.0, Range::fixed(size))
        }
        Price::Copy => created(1.0, target_size?),
        #[expect(clippy::cast_precision_loss, reason = "depths are small or unknown")]
        Price::Flatten => created(literal(args, 0).unwrap_or(u64::MAX) as f64, target_size?),
        Price::Sort(keys) => {
            let size = if keys == 0 { target_size? } else { first? };
            let is_text = id.starts_with("list_string") || id.starts_with("list_bytes");
            created(if is_text { 2.0 + TEXT } else { 2.0 }, size.times(size))
        }
    })
}

/// Functions that pass over a text once.
fn text_estimate(function: &str, id: &str, target: Option<Range>, first: Option<Range>) -> Option<Estimate> {
    Some(match (function, id) {
        (_, "string_to_bytes") => {
            let size = first?;
            let result = Range {
                min: size.min,
                max: size.max.saturating_mul(4),
            };
            (size.by(TEXT), Some(result))
        }
        (_, "bytes_to_string") => {
            let size = first?;
            let result = Range {
                min: size.min / 4,
                max: size.max,
            };
            (size.by(TEXT), Some(result))
        }
        (_, "strings_quote") => {
            let size = first?;
            let result = Range {
                min: size.min.saturating_add(2),
                max: size.max.saturating_mul(2).saturating_add(2),
            };
            (size.by(TEXT), Some(result))
        }
        (_, "string_format") => (target?.by(TEXT), None),
        ("lowerAscii" | "upperAscii" | "substring" | "trim", _) => (target?.by(TEXT), target),
        // Parsers, and comparisons with the text.
        _ => (first?.by(TEXT), None),
    })
}

/// Returns the cost of visiting all elements of a list, or all characters of a text.
fn traversed(estimator: &Estimator<'_>, target: &Argument<'_>, size: Range) -> Range {
    let Type::List(element) = target.ty else {
        return size.by(TEXT);
    };
    let mut each = Range::ONE;
    if matches!(**element, Type::String | Type::Bytes) {
        each = each.plus(element_size(estimator, target).by(TEXT));
    }
    size.times(each)
}

fn joined(estimator: &Estimator<'_>, target: &Argument<'_>, count: Range, separator: Option<Range>) -> Estimate {
    let mut size = match target.ty {
        Type::List(_) => count.times(element_size(estimator, target)),
        _ => Range::NONE,
    };
    if let Some(separator) = separator {
        let separators = Range {
            min: count.min.saturating_sub(1),
            max: count.max.saturating_sub(1),
        };
        size = size.plus(separator.times(separators));
    }
    (size.by(TEXT), Some(size))
}

fn split(size: Range, args: &[Argument<'_>]) -> Estimate {
    let limit = args.get(1).and_then(|arg| match &arg.expr.node {
        Node::Literal(Literal::Int(limit)) => u64::try_from(*limit).ok(),
        _ => None,
    });
    let most = limit.unwrap_or(size.max);
    (size.by(2.0 * TEXT), Some(Range { min: 0, max: most }))
}

/// Returns the number at `index` if it is written in the expression; negative ones count as 0.
fn literal(args: &[Argument<'_>], index: usize) -> Option<u64> {
    args.get(index).and_then(|arg| match &arg.expr.node {
        Node::Literal(Literal::Int(number)) => Some(u64::try_from(*number).unwrap_or_default()),
        _ => None,
    })
}

/// Returns the estimate for a list of `size` that is created in `factor` steps for each element.
fn created(factor: f64, size: Range) -> Estimate {
    (size.by(factor).plus(Range::fixed(LIST + 1)), Some(size))
}

/// True if both sides are of a library type with constant comparison cost.
fn is_constant_size(args: &[Argument<'_>]) -> bool {
    let is_small = |ty: &Type| matches!(ty, Type::Library(_));
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
