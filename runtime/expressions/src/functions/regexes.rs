//! Regular expressions.

use planesmith_machinery::go_pattern;
use regex::Regex;

use super::{Context, Entry, int, text_argument};
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

/// The memory limit for patterns compiled during one evaluation, in bytes; beyond it, the cache is cleared.
const MAX_COMPILED: usize = 16 << 20;

/// Returns the compiled form of `pattern`, for matching a string of `length` bytes.
fn pattern<'c>(context: &'c mut Context<'_>, pattern: &str, length: usize) -> Result<&'c Regex, Fault> {
    if let Some(known) = context.patterns.get(pattern) {
        context.effort.takes_steps(known.steps(length))?;
        return Ok(&known.regex);
    }
    if !context.compiled.contains_key(pattern) {
        let new = go_pattern::compile_unknown(pattern)
            .map_err(|problem| Fault::new(go_pattern::problem(pattern).unwrap_or(problem)))?;
        context.effort.takes(new.size)?;
        let before: usize = context.compiled.values().map(|pattern| pattern.size).sum();
        if before + new.size > MAX_COMPILED {
            context.compiled.clear();
        }
        context.compiled.insert(pattern.to_owned(), new);
    }
    let known = context.compiled.get(pattern).ok_or_else(super::unfit)?;
    context.effort.takes_steps(known.steps(length))?;
    Ok(&known.regex)
}

/// Words a fault as functions of Kubernetes do.
fn illegal(fault: Fault) -> Fault {
    match fault {
        Fault::Failed(problem) => Fault::new(format!("Illegal regex: {problem}")),
        other => other,
    }
}

fn matches<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let searched = text_argument(&args, 0)?;
    let regex = pattern(context, text_argument(&args, 1)?, searched.len())?;
    Ok(Value::Bool(regex.is_match(searched)))
}

fn find<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let searched = text_argument(&args, 0)?;
    let regex = pattern(context, text_argument(&args, 1)?, searched.len()).map_err(illegal)?;
    let found = regex.find(searched).map_or("", |found| found.as_str());
    Ok(Value::text(found))
}

fn find_all<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let limit = if args.len() > 2 { int(&args, 2)? } else { -1 };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    // Cheap: clones share the compiled program.
    let searched = text_argument(&args, 0)?;
    let regex = pattern(context, text_argument(&args, 1)?, searched.len()).map_err(illegal)?;
    let regex = regex.clone();
    let found = regex.find_iter(searched).take(limit);
    Value::texts(&mut context.effort, found.map(|found| found.as_str()))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::value::Effort;

    #[test]
    fn patterns_compiled_during_evaluation_count_towards_the_memory_limit() {
        let patterns = HashMap::new();
        let mut context = Context {
            authorizer: None,
            patterns: &patterns,
            compiled: HashMap::new(),
            budget: 1,
            effort: Effort::from_bytes(64 << 10),
        };
        assert!(pattern(&mut context, "a", 1).is_ok());
        assert!(pattern(&mut context, "a", 1).is_ok(), "it is known by now");
        let refused = (0..100).find_map(|number| pattern(&mut context, &format!("b{number}"), 1).err());
        assert_eq!(refused, Some(Fault::TooExpensive));
    }

    #[test]
    fn patterns_take_steps_for_each_state_and_byte() {
        let large = r"(\pL{1,3}x){2}";
        let patterns = [large, "a"].map(|text| (text.to_owned(), go_pattern::compile_unknown(text).unwrap()));
        let patterns = HashMap::from(patterns);
        let mut context = Context {
            authorizer: None,
            patterns: &patterns,
            compiled: HashMap::new(),
            budget: 1,
            effort: Effort::with_steps(1 << 20),
        };
        assert!(pattern(&mut context, "a", 1 << 10).is_ok());
        assert!(pattern(&mut context, large, 100).is_ok());
        assert_eq!(pattern(&mut context, large, 1 << 10).err(), Some(Fault::TooExpensive));
    }
}
