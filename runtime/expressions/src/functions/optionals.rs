//! Optional values.

use super::{Context, Entry, unfit};
use crate::value::{Evaluated, Fault, Value};

pub(super) const FUNCTIONS: &[Entry] = &[
    ("optional.of: (A) optional(A)", "optional_of", of),
    (
        "optional.ofNonZeroValue: (A) optional(A)",
        "optional_ofNonZeroValue",
        of_non_zero,
    ),
    ("optional.none: () optional(A)", "optional_none", none),
    (
        "optional.unwrap: (list(optional(A))) list(A)",
        "optional_unwrap",
        unwrap,
    ),
    ("unwrapOpt: list(optional(A)).() list(A)", "optional_unwrapOpt", unwrap),
    ("value: optional(A).() A", "optional_value", value),
    ("hasValue: optional(A).() bool", "optional_hasValue", has_value),
    (
        "or: optional(A).(optional(A)) optional(A)",
        "optional_or_optional",
        value,
    ),
    ("orValue: optional(A).(A) A", "optional_orValue_value", value),
    ("first: list(A).() optional(A)", "list_first", first),
    ("last: list(A).() optional(A)", "list_last", last),
];

fn only<'d>(args: Vec<Value<'d>>) -> Evaluated<'d> {
    args.into_iter().next().ok_or_else(unfit)
}

fn of<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    only(args).map(Value::some)
}

fn of_non_zero<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let value = only(args)?;
    Ok(if value.is_zero() {
        Value::Optional(None)
    } else {
        value.some()
    })
}

fn none<'d>(_: &mut Context<'_>, _: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Optional(None))
}

fn unwrap<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let Value::List(list) = only(args)? else {
        return Err(unfit());
    };
    context.effort.takes_elements(list.len())?;
    let mut present = Vec::new();
    for element in list.iter() {
        match element? {
            Value::Optional(value) => present.extend(value.map(|value| *value)),
            other => {
                let shown = super::format::plain(&other);
                return Err(Fault::new(format!("value {shown} is not optional")));
            }
        }
    }
    Ok(Value::list(present))
}

fn value<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    match only(args)? {
        Value::Optional(Some(value)) => Ok(*value),
        Value::Optional(None) => Err(Fault::new("optional.none() dereference")),
        _ => Err(unfit()),
    }
}

fn has_value<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    match only(args)? {
        Value::Optional(value) => Ok(Value::Bool(value.is_some())),
        _ => Err(unfit()),
    }
}

fn end<'d>(args: Vec<Value<'d>>, is_last: bool) -> Evaluated<'d> {
    let Value::List(list) = only(args)? else {
        return Err(unfit());
    };
    let index = if is_last { list.len().wrapping_sub(1) } else { 0 };
    Ok(Value::Optional(list.get(index).transpose()?.map(Box::new)))
}

fn first<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    end(args, false)
}

fn last<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    end(args, true)
}
