//! Quantities.

use std::cmp::Ordering;
use std::rc::Rc;

use planesmith_machinery::quantity::{Notation, Quantity};

use super::{Context, Entry, text_argument, unfit};
use crate::value::{Evaluated, Fault, Library, Value};

pub(super) const FUNCTIONS: &[Entry] = &[
    ("quantity: (string) quantity", "string_to_quantity", quantity),
    ("isQuantity: (string) bool", "is_quantity_string", is_quantity),
    ("sign: (quantity) int", "quantity_sign", sign),
    (
        "isGreaterThan: quantity.(quantity) bool",
        "quantity_is_greater_than",
        is_greater,
    ),
    ("isLessThan: quantity.(quantity) bool", "quantity_is_less_than", is_less),
    ("compareTo: quantity.(quantity) int", "quantity_compare_to", compare_to),
    ("asApproximateFloat: quantity.() double", "quantity_get_float", as_float),
    ("asInteger: quantity.() int", "quantity_get_int", as_integer),
    ("isInteger: quantity.() bool", "quantity_is_integer", is_integer),
    ("add: quantity.(quantity) quantity", "quantity_add", add),
    ("add: quantity.(int) quantity", "quantity_add_int", add),
    ("sub: quantity.(quantity) quantity", "quantity_sub", sub),
    ("sub: quantity.(int) quantity", "quantity_sub_int", sub),
];

fn value<'d>(quantity: Quantity) -> Value<'d> {
    Value::Library(Library::Quantity(Rc::new(quantity)))
}

fn computed<'d>(quantity: Quantity) -> Value<'d> {
    Value::Library(Library::ComputedQuantity(Rc::new(quantity)))
}

fn arg(args: &[Value<'_>], index: usize) -> Result<Rc<Quantity>, Fault> {
    match args.get(index) {
        Some(Value::Library(Library::Quantity(quantity) | Library::ComputedQuantity(quantity))) => Ok(quantity.clone()),
        Some(Value::Int(number)) => Ok(Rc::new(Quantity::new(*number, Notation::Decimal))),
        _ => Err(unfit()),
    }
}

fn quantity<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let parsed = text_argument(&args, 0)?.parse();
    parsed.map(value).map_err(|_| {
        Fault::new("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
    })
}

fn is_quantity<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Bool(text_argument(&args, 0)?.parse::<Quantity>().is_ok()))
}

fn sign<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let quantity = arg(&args, 0)?;
    Ok(Value::Int(match (quantity.is_zero(), quantity.is_negative()) {
        (true, _) => 0,
        (false, true) => -1,
        (false, false) => 1,
    }))
}

fn ordering(args: &[Value<'_>]) -> Result<Ordering, Fault> {
    Ok(arg(args, 0)?.cmp(&arg(args, 1)?))
}

fn is_greater<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Bool(ordering(&args)?.is_gt()))
}

fn is_less<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Bool(ordering(&args)?.is_lt()))
}

fn compare_to<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Int(ordering(&args)? as i64))
}

#[expect(clippy::cast_precision_loss, reason = "an approximate number is asked for")]
fn as_float<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let quantity = arg(&args, 0)?;
    let thousandths = quantity.milli_value();
    Ok(Value::Double(match thousandths {
        i64::MAX | i64::MIN => quantity.value() as f64,
        thousandths => thousandths as f64 / 1000.0,
    }))
}

fn whole(quantity: &Quantity) -> Option<i64> {
    let whole = quantity.value();
    (Quantity::new(whole, Notation::Decimal).cmp(quantity) == Ordering::Equal).then_some(whole)
}

fn as_integer<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    whole(&*arg(&args, 0)?)
        .map(Value::Int)
        .ok_or_else(|| Fault::new("cannot convert value to integer"))
}

fn is_integer<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Bool(whole(&*arg(&args, 0)?).is_some()))
}

fn add<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let sum = arg(&args, 0)?.checked_add(&*arg(&args, 1)?);
    sum.map(computed).ok_or_else(|| Fault::new("quantity overflow"))
}

fn sub<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let difference = arg(&args, 0)?.checked_sub(&*arg(&args, 1)?);
    difference.map(computed).ok_or_else(|| Fault::new("quantity overflow"))
}
