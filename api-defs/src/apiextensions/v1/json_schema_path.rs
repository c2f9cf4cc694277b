//! Paths to fields, as expressions and selectable fields write them, followed through a schema.

use super::JSONSchemaProps;

/// How entries of maps may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// `.spec.color`.
    Dots,
    /// Also `.spec['my.color']`.
    DotsAndBrackets,
}

/// The names in `path`, and the schema where it ends; `None` for a value that can be anything.
///
/// # Errors
///
/// In the words of kube-apiserver when the path is malformed or leads nowhere.
pub fn follow<'s>(
    path: &str,
    schema: &'s JSONSchemaProps,
    notation: Notation,
) -> Result<(Vec<String>, Option<&'s JSONSchemaProps>), String> {
    const END: &str = "unexpected end of JSON path";
    let mut names = Vec::new();
    let mut here = Some(schema);
    let mut tokens = Tokens { rest: path };
    while let Some(token) = tokens.next() {
        let name = match token {
            "[" if notation == Notation::Dots => return Err("array notation is not allowed".to_owned()),
            "[" => {
                let quoted = tokens.next().ok_or(END)?;
                let inner = quoted.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
                let inner = inner.filter(|_| quoted.len() >= 2);
                let inner = inner.ok_or_else(|| format!("expected single quoted string but got {quoted}"))?;
                unescaped(inner).map_err(|problem| format!("invalid string literal: {problem}"))?
            }
            "." => tokens.next().ok_or(END)?.to_owned(),
            other => return Err(format!("expected [ or . but got: {other}")),
        };
        here = Some(below(here, &name)?).flatten();
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

/// The schema of the field or entry `name`.
fn below<'s>(schema: Option<&'s JSONSchemaProps>, name: &str) -> Result<Option<&'s JSONSchemaProps>, String> {
    const NOWHERE: &str = "does not refer to a valid field";
    let schema = schema.ok_or(NOWHERE)?;
    if !schema.properties.is_empty() {
        return schema.properties.get(name).map(Some).ok_or_else(|| NOWHERE.to_owned());
    }
    match &schema.additional_properties {
        Some(_) => Ok(schema.additional()),
        None => Err(NOWHERE.to_owned()),
    }
}

/// Delimiters and what stands between them.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> JSONSchemaProps {
        let mut schema = JSONSchemaProps::default();
        let text = r#"{"properties": {"a": {"properties": {"b": {"type": "string"}}},
            "m": {"additionalProperties": {"type": "integer"}}, "any": {"additionalProperties": true}}}"#;
        planesmith_machinery::json::decode(
            text.as_bytes(),
            &mut schema,
            planesmith_machinery::json::Strictness::Lenient,
        )
        .unwrap();
        schema
    }

    #[track_caller]
    fn check(path: &str, notation: Notation, expected: Result<&str, &str>) {
        let schema = schema();
        let followed = follow(path, &schema, notation);
        let followed = followed.map(|(_, schema)| schema.map_or("", |schema| schema.type_.as_str()));
        assert_eq!(followed, expected.map_err(str::to_owned), "{path}");
    }

    #[test]
    fn paths_lead_through_fields_and_maps() {
        check(".a.b", Notation::Dots, Ok("string"));
        check(".m.x", Notation::Dots, Ok("integer"));
        check(".any.x", Notation::Dots, Ok(""));
        check(".m['x.y']", Notation::DotsAndBrackets, Ok("integer"));
        check(".a['b']", Notation::DotsAndBrackets, Ok("string"));
    }

    #[test]
    fn what_leads_nowhere_is_told() {
        check(".c", Notation::Dots, Err("does not refer to a valid field"));
        check(".a.b.c", Notation::Dots, Err("does not refer to a valid field"));
        check(".any.x.y", Notation::Dots, Err("does not refer to a valid field"));
        check("a", Notation::Dots, Err("expected [ or . but got: a"));
        check(".", Notation::Dots, Err("unexpected end of JSON path"));
        check(".a['b']", Notation::Dots, Err("array notation is not allowed"));
        check(
            ".a[b]",
            Notation::DotsAndBrackets,
            Err("expected single quoted string but got b"),
        );
        check(".a['b'", Notation::DotsAndBrackets, Err("unexpected end of JSON path"));
    }
}
