//! Strings.

use super::{Context, Entry, clauses, count, format, int, text_argument, unfit};
use crate::value::{Evaluated, Fault, Value};

pub(super) const FUNCTIONS: &[Entry] = &[
    ("contains: string.(string) bool", "contains_string", contains),
    ("endsWith: string.(string) bool", "ends_with_string", ends_with),
    ("startsWith: string.(string) bool", "starts_with_string", starts_with),
    ("charAt: string.(int) string", "string_char_at_int", char_at),
    ("indexOf: string.(string) int", "string_index_of_string", index_of),
    (
        "indexOf: string.(string, int) int",
        "string_index_of_string_int",
        index_of,
    ),
    (
        "lastIndexOf: string.(string) int",
        "string_last_index_of_string",
        last_index_of,
    ),
    (
        "lastIndexOf: string.(string, int) int",
        "string_last_index_of_string_int",
        last_index_of,
    ),
    ("lowerAscii: string.() string", "string_lower_ascii", lower_ascii),
    ("upperAscii: string.() string", "string_upper_ascii", upper_ascii),
    (
        "replace: string.(string, string) string",
        "string_replace_string_string",
        replace,
    ),
    (
        "replace: string.(string, string, int) string",
        "string_replace_string_string_int",
        replace,
    ),
    ("split: string.(string) list(string)", "string_split_string", split),
    (
        "split: string.(string, int) list(string)",
        "string_split_string_int",
        split,
    ),
    ("substring: string.(int) string", "string_substring_int", substring),
    (
        "substring: string.(int, int) string",
        "string_substring_int_int",
        substring,
    ),
    ("trim: string.() string", "string_trim", trim),
    ("format: string.(list(dyn)) string", "string_format", formatted),
    ("strings.quote: (string) string", "strings_quote", quoted),
    ("join: list(string).() string", "list_join", join),
    ("join: list(string).(string) string", "list_join_string", join),
    (
        "jsonpatch.escapeKey: (string) string",
        "string_jsonpatch_escapeKey_string",
        escape_key,
    ),
];

/// The maximum length of a string created by a replacement, in bytes.
const MAX_BYTES: usize = 16 << 20;

fn contains<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Bool(text_argument(&args, 0)?.contains(text_argument(&args, 1)?)))
}

fn ends_with<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Bool(
        text_argument(&args, 0)?.ends_with(text_argument(&args, 1)?),
    ))
}

fn starts_with<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Bool(
        text_argument(&args, 0)?.starts_with(text_argument(&args, 1)?),
    ))
}

fn out_of_range(index: i64) -> Fault {
    Fault::new(format!("index out of range: {index}"))
}

fn char_at<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let (text, index) = (text_argument(&args, 0)?, int(&args, 1)?);
    let place = usize::try_from(index).map_err(|_| out_of_range(index))?;
    match text.chars().nth(place) {
        Some(c) => Ok(Value::text(c.to_string())),
        None if place == text.chars().count() => Ok(Value::text("")),
        None => Err(out_of_range(index)),
    }
}

/// Returns the byte offset of the character with number `index`.
fn offset(text: &str, index: usize) -> Option<usize> {
    let end = std::iter::once(text.len());
    text.char_indices().map(|(at, _)| at).chain(end).nth(index)
}

fn index_of<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let (text, part) = (text_argument(&args, 0)?, text_argument(&args, 1)?);
    let from = if args.len() > 2 { int(&args, 2)? } else { 0 };
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    let from = usize::try_from(from).map_err(|_| out_of_range(from))?;
    let Some(start) = offset(text, from) else {
        return Ok(Value::Int(-1));
    };
    let found = text[start..].find(part).map(|at| text[..start + at].chars().count());
    Ok(found.map_or(Value::Int(-1), count))
}

fn last_index_of<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let (text, part) = (text_argument(&args, 0)?, text_argument(&args, 1)?);
    let length = text.chars().count();
    let from = match args.get(2) {
        Some(_) => int(&args, 2)?,
        None => i64::try_from(length).unwrap_or(i64::MAX),
    };
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    let from = usize::try_from(from).map_err(|_| out_of_range(from))?;
    let last = match offset(text, from) {
        Some(last) if last < text.len() || args.len() == 2 => last,
        _ => return Ok(Value::Int(-1)),
    };
    let end = (last + part.len()).min(text.len());
    let end = (end..=text.len())
        .find(|end| text.is_char_boundary(*end))
        .unwrap_or(text.len());
    let found = text[..end].rfind(part).filter(|at| *at <= last);
    Ok(found.map_or(Value::Int(-1), |at| count(text[..at].chars().count())))
}

fn lower_ascii<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::text(text_argument(&args, 0)?.to_ascii_lowercase()))
}

fn upper_ascii<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::text(text_argument(&args, 0)?.to_ascii_uppercase()))
}

fn replace<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let (text, old, new) = (
        text_argument(&args, 0)?,
        text_argument(&args, 1)?,
        text_argument(&args, 2)?,
    );
    let limit = if args.len() > 3 { int(&args, 3)? } else { -1 };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let places = text.matches(old).take(limit).count();
    if text.len().saturating_add(places.saturating_mul(new.len())) > MAX_BYTES {
        return Err(Fault::TooExpensive);
    }
    Ok(Value::text(text.replacen(old, new, limit)))
}

fn split<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let (text, separator) = (text_argument(&args, 0)?, text_argument(&args, 1)?);
    let limit = if args.len() > 2 { int(&args, 2)? } else { -1 };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    if limit == 0 {
        return Ok(Value::list(Vec::new()));
    }
    if !separator.is_empty() {
        return Value::texts(&mut context.effort, text.splitn(limit, separator));
    }
    let mut rest = text;
    let mut made = 0;
    let parts = std::iter::from_fn(|| {
        let first = rest.chars().next()?;
        made += 1;
        let length = if made == limit { rest.len() } else { first.len_utf8() };
        let (part, after) = rest.split_at(length);
        rest = after;
        Some(part)
    });
    Value::texts(&mut context.effort, parts)
}

fn substring<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let (text, start) = (text_argument(&args, 0)?, int(&args, 1)?);
    let first = usize::try_from(start).ok().and_then(|start| offset(text, start));
    let Some(_) = args.get(2) else {
        let first = first.ok_or_else(|| out_of_range(start))?;
        return Ok(Value::text(&text[first..]));
    };
    let end = int(&args, 2)?;
    if start > end {
        return Err(Fault::new(format!(
            "invalid substring range. start: {start}, end: {end}"
        )));
    }
    let first = first.ok_or_else(|| out_of_range(start))?;
    let last = usize::try_from(end).ok().and_then(|end| offset(text, end));
    let last = last.ok_or_else(|| out_of_range(end))?;
    Ok(Value::text(&text[first..last]))
}

fn trim<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::text(text_argument(&args, 0)?.trim()))
}

fn formatted<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    match args.get(1) {
        Some(Value::List(values)) => {
            let values = context.elements(values)?;
            clauses::formatted(text_argument(&args, 0)?, &values, &context.effort).map(Value::text)
        }
        _ => Err(unfit()),
    }
}

fn quoted<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let text = text_argument(&args, 0)?;
    // One character can become an escape sequence of several.
    context.effort.takes(text.len().saturating_mul(4))?;
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match escape_of(c) {
            Some(letter) => quoted.extend(['\\', letter]),
            None => quoted.push(c),
        }
    }
    quoted.push('"');
    Ok(Value::text(quoted))
}

/// Returns the letter of the escape sequence of a character; `None` if quoted texts have the character itself.
fn escape_of(c: char) -> Option<char> {
    Some(match c {
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\u{b}' => 'v',
        '\\' | '"' => c,
        _ => return None,
    })
}

fn join<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let separator = if args.len() > 1 { text_argument(&args, 1)? } else { "" };
    let Some(Value::List(parts)) = args.first() else {
        return Err(unfit());
    };
    let parts = context.elements(parts)?;
    let mut joined = String::new();
    for (index, part) in parts.iter().enumerate() {
        let Value::String(part) = part else {
            return Err(Fault::new(format!("join: invalid input: {}", format::plain(part))));
        };
        if index > 0 {
            joined.push_str(separator);
        }
        joined.push_str(part);
        if joined.len() > MAX_BYTES {
            return Err(Fault::TooExpensive);
        }
    }
    Ok(Value::text(joined))
}

fn escape_key<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::text(
        text_argument(&args, 0)?.replace('~', "~0").replace('/', "~1"),
    ))
}
