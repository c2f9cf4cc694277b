//! The clauses of format strings, as `%.3f`: values are written by them, and literal ones are checked before evaluation.

use std::fmt::{self, Write};

use planesmith_machinery::go_format::quote;

use super::format::{LimitedWriter, double};
use crate::ast::{Element, Expr, Node};
use crate::source::Position;
use crate::types::Type;
use crate::value::{Effort, Fault, List, Map, Value};

/// Digits after the point, unless the clause has a number of them.
const DEFAULT_PRECISION: usize = 6;

/// The most digits after the point.
const MAX_PRECISION: usize = 1000;

/// A part of a format string.
enum Part<'f> {
    Text(&'f str),
    Clause(Result<Clause, Misread>),
}

struct Clause {
    verb: u8,
    precision: Option<usize>,
}

/// The reason why a clause is malformed.
enum Misread {
    /// The format string ends after `%`.
    End,
    Clause(String),
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misread::End => f.write_str("unexpected end of string"),
            Misread::Clause(problem) => write!(f, "could not parse formatting clause: {problem}"),
        }
    }
}

/// The parts of a format string that are not read yet.
struct Parts<'f> {
    rest: &'f str,
}

impl<'f> Iterator for Parts<'f> {
    type Item = Part<'f>;

    fn next(&mut self) -> Option<Part<'f>> {
        if self.rest.is_empty() {
            return None;
        }
        let Some(clause) = self.rest.strip_prefix('%') else {
            let (text, rest) = self.rest.split_at(self.rest.find('%').unwrap_or(self.rest.len()));
            self.rest = rest;
            return Some(Part::Text(text));
        };
        if let Some(rest) = clause.strip_prefix('%') {
            self.rest = rest;
            return Some(Part::Text("%"));
        }
        self.rest = clause;
        Some(Part::Clause(self.clause()))
    }
}

impl Parts<'_> {
    fn clause(&mut self) -> Result<Clause, Misread> {
        let mut precision = None;
        if let Some(digits) = self.rest.strip_prefix('.') {
            let end = digits.find(|c: char| !c.is_ascii_digit());
            let failed = |problem: &str| Misread::Clause(format!("error while parsing precision: {problem}"));
            let end = end.ok_or_else(|| failed("could not find end of precision specifier"))?;
            let (digits, rest) = digits.split_at(end);
            let number: i64 = digits.parse().map_err(|_| {
                let problem = match digits.is_empty() {
                    true => "invalid syntax",
                    false => "value out of range",
                };
                failed(&format!(
                    "error while converting precision to integer: strconv.Atoi: parsing {}: {problem}",
                    quote(digits)
                ))
            })?;
            precision = Some(usize::try_from(number).unwrap_or(MAX_PRECISION));
            self.rest = rest;
        }
        let verb = self.rest.bytes().next().ok_or(Misread::End)?;
        if refusal(verb).is_none() {
            let shown = char::from(verb);
            return Err(Misread::Clause(format!("unrecognized formatting clause \"{shown}\"")));
        }
        self.rest = self.rest.get(1..).unwrap_or_default();
        Ok(Clause { verb, precision })
    }
}

/// Returns the types that a clause takes, worded for a value of another type; `None` if there is no such clause.
fn refusal(verb: u8) -> Option<&'static str> {
    Some(match verb {
        b's' => {
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and \
             timestamps"
        }
        b'd' => "decimal clause can only be used on integers",
        b'f' => "fixed-point clause can only be used on doubles",
        b'e' => "scientific clause can only be used on doubles",
        b'b' => "only integers and bools can be formatted as binary",
        b'x' | b'X' => "only integers, byte buffers, and strings can be formatted as hex",
        b'o' => "octal clause can only be used on integers",
        _ => return None,
    })
}

fn out_of_range(index: usize) -> String {
    format!("index {index} out of range")
}

/// The types of expressions, as far as they are known.
pub(crate) type TypeOf<'t> = &'t dyn Fn(&Expr) -> &'t Type;

/// Checks a literal format string with a literal list of values; `at` is the place of the call.
///
/// # Errors
///
/// The place and the text of the first mistake.
pub(crate) fn check(
    format: &str,
    values: &[Element],
    at: Position,
    type_of: TypeOf<'_>,
) -> Result<(), (Position, String)> {
    let mut clauses = 0;
    for part in (Parts { rest: format }) {
        let Part::Clause(clause) = part else { continue };
        if let Err(end @ Misread::End) = clause {
            return Err((at, end.to_string()));
        }
        let value = values.get(clauses).ok_or_else(|| (at, out_of_range(clauses)))?;
        let clause = clause.map_err(|misread| (at, misread.to_string()))?;
        clause.check(&value.value, type_of)?;
        clauses += 1;
    }
    if values.len() > clauses {
        let found = values.len();
        let problem = format!("too many arguments supplied to string.format (expected {clauses}, got {found})");
        return Err((at, problem));
    }
    Ok(())
}

/// Replaces the clauses of `format` by `values`.
pub(super) fn formatted(format: &str, values: &[Value<'_>], effort: &Effort) -> Result<String, Fault> {
    let mut writer = LimitedWriter::within(effort.left());
    let mut clauses = 0;
    for part in (Parts { rest: format }) {
        match part {
            Part::Text(text) => writer.write_str(text).map_err(too_long)?,
            Part::Clause(clause) => {
                let value = values.get(clauses).ok_or_else(|| Fault::new(out_of_range(clauses)))?;
                let clause = clause.map_err(|misread| Fault::new(misread.to_string()))?;
                clause.write(&mut writer, value)?;
                clauses += 1;
            }
        }
    }
    Ok(writer.out)
}

fn too_long(_: fmt::Error) -> Fault {
    Fault::TooExpensive
}

fn failed(problem: &str) -> Fault {
    Fault::new(format!("error during formatting: {problem}"))
}

impl Clause {
    fn refused(&self, type_name: &str) -> String {
        let takes = refusal(self.verb).unwrap_or_default();
        format!("{takes}, was given {type_name}")
    }

    /// Checks the type of a value, and of the parts of a literal list or map.
    fn check(&self, value: &Expr, type_of: TypeOf<'_>) -> Result<(), (Position, String)> {
        let ty = type_of(value);
        if !self.takes(ty) {
            let problem = self.refused(&ty.value_name());
            return Err((value.at, format!("error during formatting: {problem}")));
        }
        let mut parts = match (&value.node, self.verb) {
            (Node::List(elements), b's') => elements.iter().map(|element| &element.value).collect(),
            (Node::Map(entries), b's') => entries.iter().flat_map(|entry| [&entry.key, &entry.value]).collect(),
            _ => Vec::new(),
        }
        .into_iter();
        parts.try_for_each(|part| self.check(part, type_of))
    }

    fn takes(&self, ty: &Type) -> bool {
        if ty.is_dyn_or_error() {
            return true;
        }
        let is_integer = matches!(ty, Type::Int | Type::Uint);
        match self.verb {
            b's' => !matches!(ty, Type::Optional(_) | Type::Library(_) | Type::Struct(_)),
            b'f' | b'e' => matches!(ty, Type::Double | Type::String),
            b'b' => is_integer || *ty == Type::Bool,
            b'x' | b'X' => is_integer || matches!(ty, Type::String | Type::Bytes),
            _ => is_integer,
        }
    }

    fn write(&self, out: &mut LimitedWriter, value: &Value<'_>) -> Result<(), Fault> {
        let precision = self.precision.unwrap_or(DEFAULT_PRECISION);
        let written = match (self.verb, value) {
            (b's', value) => return text(out, value, self),
            (b'd', Value::Int(_) | Value::Uint(_)) => out.value(value),
            (b'f' | b'e', Value::Double(number)) => real(out, self.verb, precision, *number),
            (b'f' | b'e', Value::String(text)) if matches!(&**text, "NaN" | "Infinity" | "-Infinity") => {
                real(out, self.verb, precision, text.parse().unwrap_or(f64::NAN))
            }
            (b'b', Value::Bool(flag)) => write!(out, "{}", u8::from(*flag)),
            (b'x', Value::String(text)) => text.bytes().try_for_each(|byte| write!(out, "{byte:02x}")),
            (b'X', Value::String(text)) => text.bytes().try_for_each(|byte| write!(out, "{byte:02X}")),
            (b'x', Value::Bytes(bytes)) => bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}")),
            (b'X', Value::Bytes(bytes)) => bytes.iter().try_for_each(|byte| write!(out, "{byte:02X}")),
            (b'b' | b'x' | b'X' | b'o', Value::Int(number)) => {
                let sign = if *number < 0 { "-" } else { "" };
                out.write_str(sign)
                    .and_then(|()| radix(out, self.verb, number.unsigned_abs()))
            }
            (b'b' | b'x' | b'X' | b'o', Value::Uint(number)) => radix(out, self.verb, *number),
            _ => return Err(failed(&self.refused(value.type_name()))),
        };
        written.map_err(too_long)
    }
}

/// Writes a value for `%s`.
fn text(out: &mut LimitedWriter, value: &Value<'_>, clause: &Clause) -> Result<(), Fault> {
    match value {
        Value::List(elements) => list(out, elements),
        Value::Map(entries) => map(out, entries),
        Value::Bytes(bytes) => out.write_str(utf8(bytes)?).map_err(too_long),
        Value::Optional(_) | Value::Unknown(_) | Value::Library(_) | Value::Object(_) => {
            Err(failed(&clause.refused(value.type_name())))
        }
        other => out.value(other).map_err(too_long),
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, Fault> {
    std::str::from_utf8(bytes).map_err(|_| {
        failed("could not convert argument \"invalid UTF-8 in bytes, cannot convert to string\" to string")
    })
}

fn list(out: &mut LimitedWriter, elements: &List<'_>) -> Result<(), Fault> {
    out.write_str("[").map_err(too_long)?;
    for (index, element) in elements.iter().enumerate() {
        out.write_str(if index > 0 { ", " } else { "" }).map_err(too_long)?;
        literal(out, &element?)?;
    }
    out.write_str("]").map_err(too_long)
}

/// Entries are sorted by the literals of their keys.
fn map(out: &mut LimitedWriter, map: &Map<'_>) -> Result<(), Fault> {
    let mut entries = Vec::new();
    let mut left = out.left();
    let mut part = |value: &Value<'_>| {
        let mut part = LimitedWriter::within(left);
        literal(&mut part, value)?;
        left = part.left();
        Ok::<_, Fault>(part.out)
    };
    for (key, value) in map.entries()? {
        if !matches!(key, Value::String(_) | Value::Bool(_) | Value::Int(_) | Value::Uint(_)) {
            let found = key.type_name();
            return Err(failed(&format!("no formatting function for map key of type {found}")));
        }
        entries.push((part(&key)?, part(&value)?));
    }
    entries.sort();
    let entries: Vec<String> = entries.iter().map(|(key, value)| format!("{key}:{value}")).collect();
    write!(out, "{{{}}}", entries.join(", ")).map_err(too_long)
}

/// Writes a value in a list or map, as expressions have it.
fn literal(out: &mut LimitedWriter, value: &Value<'_>) -> Result<(), Fault> {
    let written = match value {
        Value::List(elements) => return list(out, elements),
        Value::Map(entries) => return map(out, entries),
        Value::String(text) => out.write_str(&quote(text)),
        Value::Bytes(bytes) => write!(out, "b{}", quote(utf8(bytes)?)),
        Value::Double(number) if number.is_finite() => write!(out, "{number:.DEFAULT_PRECISION$}"),
        Value::Double(number) => out.write_str(&quote(&double(*number))),
        Value::Duration(_) => call(out, "duration", value),
        Value::Timestamp(_) => call(out, "timestamp", value),
        Value::Optional(_) | Value::Unknown(_) | Value::Library(_) | Value::Object(_) => {
            let found = value.type_name();
            return Err(failed(&format!("no formatting function for {found}")));
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Type(_) => out.value(value),
    };
    written.map_err(too_long)
}

fn call(out: &mut LimitedWriter, function: &str, value: &Value<'_>) -> fmt::Result {
    write!(out, "{function}(\"")?;
    out.value(value)?;
    out.write_str("\")")
}

fn radix(out: &mut LimitedWriter, verb: u8, number: u64) -> fmt::Result {
    match verb {
        b'b' => write!(out, "{number:b}"),
        b'o' => write!(out, "{number:o}"),
        b'X' => write!(out, "{number:X}"),
        _ => write!(out, "{number:x}"),
    }
}

/// Writes a number as American English has it: thousands are grouped, powers of ten have superscripts, and zero has no sign.
fn real(out: &mut LimitedWriter, verb: u8, precision: usize, number: f64) -> fmt::Result {
    let sign = if number < 0.0 { "-" } else { "" };
    let digits = match (number.abs(), verb) {
        (number, _) if number.is_nan() => "NaN".to_owned(),
        (number, _) if number.is_infinite() => "∞".to_owned(),
        (number, b'f') => fixed(number, precision.min(MAX_PRECISION)),
        (number, _) => scientific(number),
    };
    // kube-apiserver takes the precision of a scientific number as its width, and counts it in 16 bits.
    let width = if verb == b'e' { precision % (1 << 16) } else { 0 };
    write!(out, "{:>width$}", format!("{sign}{digits}"))
}

fn fixed(number: f64, precision: usize) -> String {
    let text = format!("{number:.precision$}");
    let whole = text.find('.').unwrap_or(text.len());
    let mut grouped = String::with_capacity(text.len() + whole / 3);
    for (index, c) in text.char_indices() {
        if index > 0 && index < whole && (whole - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(c);
    }
    grouped
}

fn scientific(number: f64) -> String {
    const SUPERSCRIPTS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let text = format!("{number:.DEFAULT_PRECISION$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ("⁻", exponent),
        None => ("", exponent),
    };
    let raised = format!("{exponent:0>2}");
    let raised = raised.bytes().map(|digit| {
        let superscript = SUPERSCRIPTS.get(usize::from(digit.wrapping_sub(b'0')));
        superscript.copied().unwrap_or('⁰')
    });
    format!("{digits}×10{sign}{}", raised.collect::<String>())
}
