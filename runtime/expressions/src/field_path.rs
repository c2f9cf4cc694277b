//! Paths to fields, as written in expressions and selectable fields.

/// The accepted notation for map entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// `.spec.color`.
    Dots,
    /// Also `.spec['my.color']`.
    DotsAndBrackets,
}

/// Follows `path` from `start`; `below` looks up a name. Returns the names of the path and the final result.
///
/// # Errors
///
/// A malformed path, worded as kube-apiserver words it, or an error of `below`.
pub fn follow<S: Copy>(
    path: &str,
    notation: Notation,
    start: S,
    below: impl Fn(S, &str) -> Result<S, String>,
) -> Result<(Vec<String>, S), String> {
    const END: &str = "unexpected end of JSON path";
    let mut names = Vec::new();
    let mut here = start;
    let mut tokens = Tokens { rest: path };
    while let Some(token) = tokens.next() {
        let name = match token {
            "[" if notation == Notation::Dots => return Err("array notation is not allowed".to_owned()),
            "[" => {
                let quoted = tokens.next().ok_or(END)?;
                let inner = quoted.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
                let inner = inner.ok_or_else(|| format!("expected single quoted string but got {quoted}"))?;
                unescaped(inner).map_err(|problem| format!("invalid string literal: {problem}"))?
            }
            "." => tokens.next().ok_or(END)?.to_owned(),
            other => return Err(format!("expected [ or . but got: {other}")),
        };
        here = below(here, &name)?;
        names.push(name);
        if token == "[" {
            match tokens.next().ok_or(END)? {
                "]" => {}
                other => return Err(format!("expected ] but got {other}")),
            }
        }
    }
    Ok((names, here))
}

/// Splits a path into delimiters and the names between them.
struct Tokens<'p> {
    rest: &'p str,
}

impl<'p> Iterator for Tokens<'p> {
    type Item = &'p str;

    fn next(&mut self) -> Option<&'p str> {
        if self.rest.is_empty() {
            return None;
        }
        let end = match self.rest.as_bytes() {
            [b'\'', ..] => end_of_quoted(self.rest),
            [b'.' | b'[' | b']', ..] => 1,
            _ => self.rest.find(['.', '[', ']']).unwrap_or(self.rest.len()),
        };
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(token)
    }
}

fn end_of_quoted(text: &str) -> usize {
    let bytes = text.as_bytes();
    let end = (1..bytes.len()).find(|&index| bytes[index] == b'\'' && bytes[index - 1] != b'\\');
    end.map_or(text.len(), |index| index + 1)
}

fn unescaped(text: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        out.push(match chars.next() {
            Some('a') => '\u{7}',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\u{b}',
            Some('\'') => '\'',
            Some('\\') => '\\',
            other => {
                return Err(format!(
                    "invalid escape char \\{}",
                    other.map(String::from).unwrap_or_default()
                ));
            }
        });
    }
    Ok(out)
}
