//! Reads paths.

use serde_json::Value;

use super::filter::{Filter, Operator};
use super::{Slice, Step};

/// The depth to which filters and unions may be nested.
const MAX_DEPTH: usize = 16;

/// Reads the text between braces in a template of kubectl.
pub(super) fn action(text: &str) -> Result<Vec<Step>, String> {
    nested(text, 0)
}

fn nested(text: &str, depth: usize) -> Result<Vec<Step>, String> {
    if depth > MAX_DEPTH {
        return Err("nested too deep".to_owned());
    }
    let mut parser = Parser {
        rest: text,
        steps: Vec::new(),
        depth,
    };
    while !parser.rest.is_empty() {
        parser.step()?;
    }
    Ok(parser.steps)
}

struct Parser<'t> {
    rest: &'t str,
    steps: Vec<Step>,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn step(&mut self) -> Result<(), String> {
        if let Some(rest) = self.rest.strip_prefix("[?(") {
            return self.filter(rest);
        }
        if let Some(rest) = self.rest.strip_prefix("..") {
            if self.steps.last() == Some(&Step::Below) {
                return Err("invalid multiple recursive descent".to_owned());
            }
            self.rest = rest;
            self.steps.push(Step::Below);
            if rest.starts_with(is_word) {
                self.field();
            }
            return Ok(());
        }
        let Some(c) = self.rest.chars().next() else {
            return Ok(());
        };
        let after = &self.rest[c.len_utf8()..];
        match c {
            ' ' | '@' | '$' => self.rest = after,
            '[' => return self.brackets(after),
            '"' | '\'' => return self.quoted(c, after),
            '.' => {
                self.rest = after;
                self.field();
            }
            '+' | '-' | '0'..='9' => return self.number(),
            c if is_word(c) => return self.identifier(),
            '\n' | '\r' => return Err("unclosed action".to_owned()),
            c => {
                let code = u32::from(c);
                return Err(format!("unrecognized character in action: U+{code:04X} '{c}'"));
            }
        }
        Ok(())
    }

    /// Takes what comes before `end`, and what `end` matches.
    fn until(&mut self, text: &'t str, end: usize, closing: usize) -> &'t str {
        self.rest = &text[end + closing..];
        &text[..end]
    }

    fn field(&mut self) {
        let mut is_escaped = false;
        let end = self.rest.find(|c| {
            let ends = !is_escaped && is_terminator(c);
            is_escaped = !is_escaped && c == '\\';
            ends
        });
        let text = self.rest;
        let name = self.until(text, end.unwrap_or(text.len()), 0);
        self.steps.push(match name {
            "*" => Step::All,
            name => Step::Field(name.replace('\\', "").into()),
        });
    }

    fn number(&mut self) -> Result<(), String> {
        let text = self.rest;
        let sign = usize::from(text.starts_with(['+', '-']));
        let end = text[sign..].find(|c: char| c != '.' && !c.is_ascii_digit());
        let digits = self.until(text, end.map_or(text.len(), |end| end + sign), 0);
        let number = match (digits.parse::<i64>(), digits.parse::<f64>()) {
            (Ok(whole), _) => Value::from(whole),
            (_, Ok(point)) => Value::from(point),
            _ => return Err(format!("cannot parse number {digits}")),
        };
        self.steps.push(Step::Literal(number));
        Ok(())
    }

    fn identifier(&mut self) -> Result<(), String> {
        let text = self.rest;
        let end = text.find(is_terminator).unwrap_or(text.len());
        match self.until(text, end, 0) {
            word @ ("true" | "false") => self.steps.push(Step::Literal(Value::Bool(word == "true"))),
            word => return Err(format!("unrecognized identifier {word}")),
        }
        Ok(())
    }

    fn quoted(&mut self, quote: char, text: &'t str) -> Result<(), String> {
        let mut unquoted = String::new();
        let mut characters = text.char_indices();
        while let Some((index, c)) = characters.next() {
            match c {
                c if c == quote => {
                    self.rest = &text[index + 1..];
                    self.steps.push(Step::Literal(Value::String(unquoted)));
                    return Ok(());
                }
                '\n' => break,
                '\\' => match characters.next() {
                    Some((_, 'n')) => unquoted.push('\n'),
                    Some((_, 't')) => unquoted.push('\t'),
                    Some((_, 'r')) => unquoted.push('\r'),
                    Some((_, escaped)) => unquoted.push(escaped),
                    None => break,
                },
                c => unquoted.push(c),
            }
        }
        Err("unterminated quoted string".to_owned())
    }

    fn brackets(&mut self, text: &'t str) -> Result<(), String> {
        let end = text.find(']').ok_or("unterminated array")?;
        let inner = self.until(text, end, 1);
        if inner.contains(',') {
            let paths = inner.split(',');
            let paths = paths.map(|path| nested(&format!("[{}]", path.trim_matches(' ')), self.depth + 1));
            self.steps.push(Step::Union(paths.collect::<Result<_, _>>()?));
            return Ok(());
        }
        let key = inner.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        if let Some(key) = key.filter(|key| !key.contains('\'')) {
            self.steps.extend(nested(&format!(".{key}"), self.depth + 1)?);
            return Ok(());
        }
        let inner = if inner == "*" { ":" } else { inner };
        self.steps.push(Step::Slice(slice(inner)?));
        Ok(())
    }

    fn filter(&mut self, text: &'t str) -> Result<(), String> {
        let end = filter_end(text).ok_or("unterminated filter")?;
        let condition = self.until(text, end, 1);
        self.rest = self.rest.strip_prefix(']').ok_or("unclosed array expect ]")?;
        let is_operator = |c: char| matches!(c, '!' | '<' | '>' | '=');
        let compared = condition
            .find(is_operator)
            .filter(|at| *at > 0)
            .map(|at| condition.split_at(at));
        let comparison = compared.and_then(|(left, rest)| {
            let length = rest.find(|c| !is_operator(c))?;
            let (operator, right) = rest.split_at(length);
            Some((left, operator, right))
        });
        let filter = match comparison {
            None => Filter {
                left: nested(condition, self.depth + 1)?,
                comparison: None,
            },
            Some((left, operator, right)) => Filter {
                left: nested(left, self.depth + 1)?,
                comparison: Some((Operator::named(operator), nested(right, self.depth + 1)?)),
            },
        };
        self.steps.push(Step::Filter(Box::new(filter)));
        Ok(())
    }
}

/// The position of the parenthesis that closes a filter, outside of quotes.
fn filter_end(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut is_escaped = false;
    for (index, c) in text.char_indices() {
        match (quote, c) {
            (_, '\n') => return None,
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open && !is_escaped => quote = None,
            (None, ')') => return Some(index),
            _ => {}
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    None
}

fn slice(text: &str) -> Result<Slice, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let number = |index: usize| match parts.get(index) {
        None | Some(&"") => Ok(None),
        Some(digits) if digits.starts_with('+') => Err(format!("invalid array index {text}")),
        Some(digits) => digits
            .parse()
            .map(Some)
            .map_err(|_| format!("invalid array index {text}")),
    };
    if parts.len() > 3 {
        return Err(format!("invalid array index {text}"));
    }
    let (start, end, step) = (number(0)?, number(1)?, number(2)?);
    let is_single = parts.len() == 1;
    Ok(Slice {
        start,
        end: match is_single {
            true => Some(start.unwrap_or_default().wrapping_add(1)),
            false => end,
        },
        is_single,
        step,
    })
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// True for characters that end a name.
fn is_terminator(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}'
    )
}
