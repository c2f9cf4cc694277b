//! Functions of semantic versions.

use std::rc::Rc;

use super::{Context, Entry, text_argument, unfit};
use crate::library::semver::Semver;
use crate::value::{Evaluated, Fault, Library, Value};

pub(super) const FUNCTIONS: &[Entry] = &[
    ("semver: (string) semver", "string_to_semver", semver),
    ("semver: (string, bool) semver", "string_bool_to_semver", semver),
    ("isSemver: (string) bool", "is_semver_string", is_semver),
    ("isSemver: (string, bool) bool", "is_semver_string_bool", is_semver),
    (
        "isGreaterThan: semver.(semver) bool",
        "semver_is_greater_than",
        is_greater,
    ),
    ("isLessThan: semver.(semver) bool", "semver_is_less_than", is_less),
    ("compareTo: semver.(semver) int", "semver_compare_to", compare_to),
    ("major: semver.() int", "semver_major", major),
    ("minor: semver.() int", "semver_minor", minor),
    ("patch: semver.() int", "semver_patch", patch),
];

fn parse(args: &[Value<'_>]) -> Result<Result<Semver, &'static str>, Fault> {
    let text = text_argument(args, 0)?;
    Ok(match args.get(1) {
        Some(Value::Bool(true)) => Semver::parse(&Semver::normalized(text)),
        _ => Semver::parse(text),
    })
}

fn semver<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let version = parse(&args)?.map_err(Fault::new)?;
    Ok(Value::Library(Library::Semver(Rc::new(version))))
}

fn is_semver<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Bool(parse(&args)?.is_ok()))
}

fn arg<'a>(args: &'a [Value<'_>], index: usize) -> Result<&'a Semver, Fault> {
    match args.get(index) {
        Some(Value::Library(Library::Semver(version))) => Ok(version),
        _ => Err(unfit()),
    }
}

fn is_greater<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Bool(arg(&args, 0)?.cmp(arg(&args, 1)?).is_gt()))
}

fn is_less<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Bool(arg(&args, 0)?.cmp(arg(&args, 1)?).is_lt()))
}

fn compare_to<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Int(arg(&args, 0)?.cmp(arg(&args, 1)?) as i64))
}

fn number<'d>(args: &[Value<'d>], index: usize) -> Evaluated<'d> {
    let number = arg(args, 0)?.numbers[index];
    Ok(Value::Int(i64::try_from(number).unwrap_or(i64::MAX)))
}

fn major<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    number(&args, 0)
}

fn minor<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    number(&args, 1)
}

fn patch<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    number(&args, 2)
}
