//! Minimal JSON support to check and write literals.

/// Returns `text` as a JSON string.
pub(crate) fn string(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for letter in text.chars() {
        match letter {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            letter if letter < ' ' => json.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter => json.push(letter),
        }
    }
    json.push('"');
    json
}

/// True if `text` is a single JSON value.
pub(crate) fn is_valid(text: &str) -> bool {
    let mut reader = Reader { rest: text };
    reader.value(0).is_some() && reader.token().is_empty()
}

struct Reader<'a> {
    rest: &'a str,
}

/// The maximum nesting depth. No default needs more, and it bounds the stack usage.
const DEPTH: usize = 32;

impl<'a> Reader<'a> {
    /// Returns the input from the next token on.
    fn token(&mut self) -> &'a str {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
        self.rest
    }

    fn take(&mut self, token: &str) -> Option<()> {
        self.rest = self.token().strip_prefix(token)?;
        Some(())
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        if depth > DEPTH {
            return None;
        }
        match self.token().as_bytes().first()? {
            b'"' => self.string(),
            b'{' => self.entries(depth, "{", "}", true),
            b'[' => self.entries(depth, "[", "]", false),
            b't' => self.take("true"),
            b'f' => self.take("false"),
            b'n' => self.take("null"),
            _ => self.number(),
        }
    }

    fn entries(&mut self, depth: usize, open: &str, close: &str, keyed: bool) -> Option<()> {
        self.take(open)?;
        if self.take(close).is_some() {
            return Some(());
        }
        loop {
            if keyed {
                self.token();
                self.string()?;
                self.take(":")?;
            }
            self.value(depth + 1)?;
            if self.take(close).is_some() {
                return Some(());
            }
            self.take(",")?;
        }
    }

    fn string(&mut self) -> Option<()> {
        let mut letters = self.rest.strip_prefix('"')?.char_indices();
        let body = &self.rest[1..];
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.rest = &body[at + 1..];
                    return Some(());
                }
                '\\' => match letters.next()?.1 {
                    '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => {}
                    'u' => (0..4).try_for_each(|_| letters.next()?.1.is_ascii_hexdigit().then_some(()))?,
                    _ => return None,
                },
                letter if letter < ' ' => return None,
                _ => {}
            }
        }
        None
    }

    fn number(&mut self) -> Option<()> {
        let end = self
            .rest
            .find(|letter: char| !letter.is_ascii_alphanumeric() && !"+-.".contains(letter));
        let (number, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        let digits = number.strip_prefix('-').unwrap_or(number);
        let starts_well = digits.starts_with(|first: char| first.is_ascii_digit());
        let padded = digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit();
        if !starts_well || padded || digits.ends_with('.') || digits.contains(".e") || number.parse::<f64>().is_err() {
            return None;
        }
        self.rest = rest;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_json_value_is_told_from_anything_else() {
        for right in [
            "1",
            "-0.5e3",
            "\"a\\u00e9\\n\"",
            "{}",
            "[]",
            " { \"a\" : [1, null, true], \"b\":{} } ",
            "0",
        ] {
            assert!(is_valid(right), "{right}");
        }
        for wrong in [
            "", "a", "{", "[1,]", "{a: 1}", "01", "1 2", "\"a", "'a'", "nul", "1.", "NaN", "{\"a\"}", "+1",
        ] {
            assert!(!is_valid(wrong), "{wrong}");
        }
    }

    #[test]
    fn text_becomes_a_json_string() {
        assert_eq!(string("a\"b\\c\n\u{1}"), r#""a\"b\\c\n\u0001""#);
    }
}
