//! Says what is wrong with malformed JSON, in the words of Go's `encoding/json`.

use super::reader::MAX_DEPTH;
use crate::go_format::quote;

/// The state of the machine: the syntax that it expects next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Value,
    ValueOrEnd,
    KeyOrEnd,
    Key,
    AfterKey,
    AfterValue,
    Text,
    Escape,
    Unicode(u8),
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
    Literal(&'static str, usize),
    Done,
}

/// The message for `input`; `None` when it is well-formed.
#[must_use]
pub(crate) fn explain(input: &[u8]) -> Option<String> {
    let mut machine = Machine {
        state: State::Value,
        text_is_key: false,
        open: Vec::new(),
    };
    for byte in input {
        if let Err(context) = machine.step(*byte) {
            return Some(message(*byte, &context));
        }
    }
    if machine.state == State::Done {
        return None;
    }
    // Like Go, end numbers and notice cut literals by one space behind the input.
    if let Err(context) = machine.step(b' ') {
        return Some(message(b' ', &context));
    }
    if machine.state == State::Done {
        None
    } else {
        Some("unexpected end of JSON input".to_owned())
    }
}

fn message(byte: u8, context: &str) -> String {
    let shown = match char::from(byte) {
        '\'' => "\\'".to_owned(),
        '"' => "\"".to_owned(),
        other => quote(&other.to_string()).trim_matches('"').to_owned(),
    };
    format!("invalid character '{shown}' {context}")
}

struct Machine {
    state: State,
    text_is_key: bool,
    /// For each open array or object, true if it is an object.
    open: Vec<bool>,
}

impl Machine {
    /// Takes one byte; the error says where it does not belong.
    fn step(&mut self, byte: u8) -> Result<(), String> {
        let space = matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        self.state = match self.state {
            State::Value | State::ValueOrEnd | State::KeyOrEnd | State::Key | State::AfterKey if space => self.state,
            State::ValueOrEnd if byte == b']' => self.close(),
            State::Value | State::ValueOrEnd => return self.begin(byte),
            State::KeyOrEnd if byte == b'}' => self.close(),
            State::KeyOrEnd | State::Key if byte == b'"' => {
                self.text_is_key = true;
                State::Text
            }
            State::KeyOrEnd | State::Key => return Err("looking for beginning of object key string".to_owned()),
            State::AfterKey if byte == b':' => State::Value,
            State::AfterKey => return Err("after object key".to_owned()),
            State::Text => match byte {
                b'"' if self.text_is_key => State::AfterKey,
                b'"' => self.after_value(),
                b'\\' => State::Escape,
                0..=0x1f => return Err("in string literal".to_owned()),
                _ => State::Text,
            },
            State::Escape => match byte {
                b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => State::Text,
                b'u' => State::Unicode(0),
                _ => return Err("in string escape code".to_owned()),
            },
            State::Unicode(count) if byte.is_ascii_hexdigit() => {
                if count == 3 {
                    State::Text
                } else {
                    State::Unicode(count + 1)
                }
            }
            State::Unicode(_) => return Err("in \\u hexadecimal character escape".to_owned()),
            State::Literal(literal, at) => return self.literal(literal, at, byte),
            State::AfterValue | State::Done => return self.end_value(byte),
            _ => return self.number(byte),
        };
        Ok(())
    }

    fn begin(&mut self, byte: u8) -> Result<(), String> {
        self.text_is_key = false;
        self.state = match byte {
            b'{' => self.open(true, State::KeyOrEnd)?,
            b'[' => self.open(false, State::ValueOrEnd)?,
            b'"' => State::Text,
            b'-' => State::Minus,
            b'0' => State::Zero,
            b'1'..=b'9' => State::Integer,
            b't' => State::Literal("true", 1),
            b'f' => State::Literal("false", 1),
            b'n' => State::Literal("null", 1),
            _ => return Err("looking for beginning of value".to_owned()),
        };
        Ok(())
    }

    fn open(&mut self, object: bool, state: State) -> Result<State, String> {
        self.open.push(object);
        if self.open.len() > MAX_DEPTH {
            Err("exceeded max depth".to_owned())
        } else {
            Ok(state)
        }
    }

    fn close(&mut self) -> State {
        self.open.pop();
        self.after_value()
    }

    fn after_value(&self) -> State {
        if self.open.is_empty() {
            State::Done
        } else {
            State::AfterValue
        }
    }

    fn literal(&mut self, literal: &'static str, at: usize, byte: u8) -> Result<(), String> {
        let expected = literal.as_bytes()[at];
        if byte != expected {
            return Err(format!("in literal {literal} (expecting '{}')", char::from(expected)));
        }
        self.state = if at + 1 == literal.len() {
            self.after_value()
        } else {
            State::Literal(literal, at + 1)
        };
        Ok(())
    }

    fn number(&mut self, byte: u8) -> Result<(), String> {
        self.state = match (self.state, byte) {
            (State::Minus, b'0') => State::Zero,
            (State::Minus | State::Integer, b'1'..=b'9') | (State::Integer, b'0') => State::Integer,
            (State::Minus, _) => return Err("in numeric literal".to_owned()),
            (State::Zero | State::Integer, b'.') => State::Point,
            (State::Point | State::Fraction, b'0'..=b'9') => State::Fraction,
            (State::Point, _) => return Err("after decimal point in numeric literal".to_owned()),
            (State::Zero | State::Integer | State::Fraction, b'e' | b'E') => State::Exponent,
            (State::Exponent, b'+' | b'-') => State::ExponentSign,
            (State::Exponent | State::ExponentSign | State::ExponentDigits, b'0'..=b'9') => State::ExponentDigits,
            (State::Exponent | State::ExponentSign, _) => return Err("in exponent of numeric literal".to_owned()),
            _ => {
                self.state = self.after_value();
                return self.end_value(byte);
            }
        };
        Ok(())
    }

    /// Takes the byte behind a finished value.
    fn end_value(&mut self, byte: u8) -> Result<(), String> {
        if matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
            return Ok(());
        }
        self.state = match (self.open.last(), byte) {
            (None, _) => return Err("after top-level value".to_owned()),
            (Some(true), b',') => State::Key,
            (Some(false), b',') => State::Value,
            (Some(true), b'}') | (Some(false), b']') => self.close(),
            (Some(true), _) => return Err("after object key:value pair".to_owned()),
            (Some(false), _) => return Err("after array element".to_owned()),
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::explain;

    #[test]
    fn mistakes_are_worded_as_go_does() {
        let cases = [
            ("", "unexpected end of JSON input"),
            ("   ", "unexpected end of JSON input"),
            ("{\"a\":1", "unexpected end of JSON input"),
            ("{\"a\":\"x", "unexpected end of JSON input"),
            ("{a", "invalid character 'a' looking for beginning of object key string"),
            (
                "{\"a\":1,}",
                "invalid character '}' looking for beginning of object key string",
            ),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            ("x", "invalid character 'x' looking for beginning of value"),
            ("\u{feff}{}", "invalid character 'ï' looking for beginning of value"),
            ("{}x", "invalid character 'x' after top-level value"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":03}", "invalid character '3' after object key:value pair"),
            ("[1 2]", "invalid character '2' after array element"),
            ("\"a\nb\"", "invalid character '\\n' in string literal"),
            ("\"\\x\"", "invalid character 'x' in string escape code"),
            (
                "\"\\u12g4\"",
                "invalid character 'g' in \\u hexadecimal character escape",
            ),
            ("-", "invalid character ' ' in numeric literal"),
            ("1.", "invalid character ' ' after decimal point in numeric literal"),
            ("1ex", "invalid character 'x' in exponent of numeric literal"),
            ("tru", "invalid character ' ' in literal true (expecting 'e')"),
            ("nul'", "invalid character '\\'' in literal null (expecting 'l')"),
        ];
        for (input, expected) in cases {
            assert_eq!(explain(input.as_bytes()).as_deref(), Some(expected), "{input:?}");
        }
        for input in [
            "0",
            "-0",
            " [1, 2.5e-3, {\"a\": [] , \"b\":{}}, \"\\u00e9\\n\", null, true, false] \n",
        ] {
            assert_eq!(explain(input.as_bytes()), None, "{input:?}");
        }
    }

    #[test]
    fn depth_is_limited() {
        let deep = "[".repeat(100_000);
        assert_eq!(
            explain(deep.as_bytes()).as_deref(),
            Some("invalid character '[' exceeded max depth")
        );
    }
}
