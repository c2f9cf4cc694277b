//! Regular expressions.

use planesmith_machinery::go_pattern;
use regex::Regex;

use super::{Context, Entry, int, text};
use crate::value::{Evaluated, Fault, Value};

pub(super) const FUNCTIONS: &[Entry] = &[
    ("matches: (string, string) bool", "matches", matches),
    ("matches: string.(string) bool", "matches_string", matches),
    ("find: string.(string) string", "string_find_string", find),
    (
        "findAll: string.(string) list(string)",
        "string_find_all_string",
        find_all,
    ),
    (
        "findAll: string.(string, int) list(string)",
        "string_find_all_string_int",
        find_all,
    ),
];

fn pattern<'c>(context: &'c mut Context<'_>, pattern: &str) -> Result<&'c Regex, Fault> {
    if let Some(regex) = context.patterns.get(pattern) {
        return Ok(regex);
    }
    if !context.made.contains_key(pattern) {
        let regex = go_pattern::compile_unknown(pattern).map_err(Fault::new)?;
        context.made.insert(pattern.to_owned(), regex);
    }
    context.made.get(pattern).ok_or_else(super::unfit)
}

fn matches<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let regex = pattern(context, text(&args, 1)?)?;
    Ok(Value::Bool(regex.is_match(text(&args, 0)?)))
}

fn find<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let regex = pattern(context, text(&args, 1)?)?;
    let found = regex.find(text(&args, 0)?).map_or("", |found| found.as_str());
    Ok(Value::text(found))
}

fn find_all<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let limit = if args.len() > 2 { int(&args, 2)? } else { -1 };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let regex = pattern(context, text(&args, 1)?)?;
    let found = regex.find_iter(text(&args, 0)?).take(limit);
    Ok(Value::texts(found.map(|found| found.as_str())))
}
