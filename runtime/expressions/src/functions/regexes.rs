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

/// What the patterns that one evaluation made may take up in memory before they are forgotten, in bytes.
const MAX_MADE: usize = 16 << 20;

fn pattern<'c>(context: &'c mut Context<'_>, pattern: &str) -> Result<&'c Regex, Fault> {
    if let Some(known) = context.patterns.get(pattern) {
        return Ok(&known.regex);
    }
    if !context.made.contains_key(pattern) {
        let made = go_pattern::compile_unknown(pattern).map_err(Fault::new)?;
        context.effort.takes(made.size)?;
        let before: usize = context.made.values().map(|made| made.size).sum();
        if before + made.size > MAX_MADE {
            context.made.clear();
        }
        context.made.insert(pattern.to_owned(), made);
    }
    context
        .made
        .get(pattern)
        .map(|made| &made.regex)
        .ok_or_else(super::unfit)
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
    // Cheap, as all clones share what was read.
    let regex = pattern(context, text(&args, 1)?)?.clone();
    let found = regex.find_iter(text(&args, 0)?).take(limit);
    Value::texts(&mut context.effort, found.map(|found| found.as_str()))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::value::Effort;

    #[test]
    fn patterns_that_are_made_while_evaluating_take_effort() {
        let patterns = HashMap::new();
        let mut context = Context {
            patterns: &patterns,
            made: HashMap::new(),
            budget: 1,
            effort: Effort::of(64 << 10),
        };
        assert!(pattern(&mut context, "a").is_ok());
        assert!(pattern(&mut context, "a").is_ok(), "it is known by now");
        let refused = (0..100).find_map(|number| pattern(&mut context, &format!("b{number}")).err());
        assert_eq!(refused, Some(Fault::TooExpensive));
    }
}
