//! Splits an expression into tokens.

use crate::source::{Position, Source};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An operator or bracket, identified by its text.
    Sign,
    /// `true`, `false`, `null` or `in`.
    Word,
    Float,
    Int,
    Uint,
    String,
    Bytes,
    Identifier,
    EscapedIdentifier,
    End,
}

#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) at: Position,
    pub(crate) text: String,
}

impl Token {
    /// Returns the token as messages render it.
    pub(crate) fn rendered(&self) -> String {
        match self.kind {
            Kind::End => "'<EOF>'".to_owned(),
            _ => format!(
                "'{}'",
                self.text.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t")
            ),
        }
    }

    pub(crate) fn is(&self, sign: &str) -> bool {
        matches!(self.kind, Kind::Sign | Kind::Word) && self.text == sign
    }
}

/// Returns all tokens, followed by an end token. Reports unrecognized characters to `source`.
pub(crate) fn tokens(source: &mut Source) -> Vec<Token> {
    let characters = source.characters().to_vec();
    let mut lexer = Lexer {
        text: &characters,
        at: 0,
    };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks();
        let start = lexer.at;
        if start >= lexer.text.len() {
            break;
        }
        match lexer.token() {
            Some(kind) => tokens.push(Token {
                kind,
                at: position(start),
                text: lexer.text[start..lexer.at].iter().collect(),
            }),
            None => {
                // The message quotes the characters read so far and the one that was not recognized.
                let text: String = lexer.text[start..lexer.at].iter().collect();
                let shown = text.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t");
                source.report(
                    position(start),
                    format!("Syntax error: token recognition error at: '{shown}'"),
                );
            }
        }
    }
    tokens.push(Token {
        kind: Kind::End,
        at: source.end(),
        text: String::new(),
    });
    tokens
}

fn position(index: usize) -> Position {
    Position::try_from(index).unwrap_or(Position::MAX)
}

struct Lexer<'s> {
    text: &'s [char],
    at: usize,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> char {
        self.text.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn skip_blanks(&mut self) {
        loop {
            match self.peek(0) {
                '\t' | ' ' | '\r' | '\n' | '\u{c}' => self.at += 1,
                '/' if self.peek(1) == '/' => {
                    while self.at < self.text.len() && self.peek(0) != '\n' {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// Reads one token. Returns `None` for an unrecognized token, whose characters are skipped.
    fn token(&mut self) -> Option<Kind> {
        let (first, second, third) = (self.peek(0), self.peek(1), self.peek(2));
        let quote = |c: char| c == '"' || c == '\'';
        let raw = |c: char| c == 'r' || c == 'R';
        match first {
            '"' | '\'' => self.string(0),
            'r' | 'R' if quote(second) => self.string(1),
            'b' | 'B' if quote(second) => self.string(1).map(|_| Kind::Bytes),
            'b' | 'B' if raw(second) && quote(third) => self.string(2).map(|_| Kind::Bytes),
            '0'..='9' => Some(self.number()),
            '.' if second.is_ascii_digit() => Some(self.number()),
            '_' | 'a'..='z' | 'A'..='Z' => Some(self.word()),
            '`' => self.escaped(),
            '=' | '!' | '<' | '>' if second == '=' => Some(self.sign(2)),
            '&' if second == '&' => Some(self.sign(2)),
            '|' if second == '|' => Some(self.sign(2)),
            '<' | '>' | '[' | ']' | '{' | '}' | '(' | ')' | '.' | ',' | '-' | '!' | '?' | ':' | '+' | '*' | '/'
            | '%' => Some(self.sign(1)),
            '=' | '&' | '|' => {
                self.at = (self.at + 2).min(self.text.len());
                None
            }
            _ => {
                self.at += 1;
                None
            }
        }
    }

    fn sign(&mut self, length: usize) -> Kind {
        self.at += length;
        Kind::Sign
    }

    fn word(&mut self) -> Kind {
        let start = self.at;
        while matches!(self.peek(0), '_' | 'a'..='z' | 'A'..='Z' | '0'..='9') {
            self.at += 1;
        }
        let word: String = self.text[start..self.at].iter().collect();
        match word.as_str() {
            "true" | "false" | "null" | "in" => Kind::Word,
            _ => Kind::Identifier,
        }
    }

    fn escaped(&mut self) -> Option<Kind> {
        self.at += 1;
        let start = self.at;
        while matches!(self.peek(0), '_' | 'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '-' | '/' | ' ') {
            self.at += 1;
        }
        let found = self.at > start && self.peek(0) == '`';
        self.at = (self.at + 1).min(self.text.len());
        found.then_some(Kind::EscapedIdentifier)
    }

    fn digits(&mut self) {
        while self.peek(0).is_ascii_digit() {
            self.at += 1;
        }
    }

    fn number(&mut self) -> Kind {
        if self.peek(0) == '0' && self.peek(1) == 'x' && self.peek(2).is_ascii_hexdigit() {
            self.at += 2;
            while self.peek(0).is_ascii_hexdigit() {
                self.at += 1;
            }
            return self.unsigned_or_int();
        }
        self.digits();
        let mut is_float = false;
        if self.peek(0) == '.' && self.peek(1).is_ascii_digit() {
            is_float = true;
            self.at += 1;
            self.digits();
        }
        let sign = usize::from(matches!(self.peek(1), '+' | '-'));
        if matches!(self.peek(0), 'e' | 'E') && self.peek(1 + sign).is_ascii_digit() {
            is_float = true;
            self.at += 1 + sign;
            self.digits();
        }
        if is_float { Kind::Float } else { self.unsigned_or_int() }
    }

    fn unsigned_or_int(&mut self) -> Kind {
        if matches!(self.peek(0), 'u' | 'U') {
            self.at += 1;
            return Kind::Uint;
        }
        Kind::Int
    }

    /// Reads a quoted string with a `prefix` of so many characters.
    fn string(&mut self, prefix: usize) -> Option<Kind> {
        let is_raw = (0..prefix).any(|index| matches!(self.peek(index), 'r' | 'R'));
        self.at += prefix;
        let quote = self.peek(0);
        let is_long = self.peek(1) == quote && self.peek(2) == quote;
        self.at += if is_long { 3 } else { 1 };
        loop {
            let c = self.peek(0);
            if self.at >= self.text.len() {
                return None;
            }
            if c == quote && (!is_long || (self.peek(1) == quote && self.peek(2) == quote)) {
                self.at += if is_long { 3 } else { 1 };
                return Some(Kind::String);
            }
            if !is_long && matches!(c, '\n' | '\r') {
                self.at += 1;
                return None;
            }
            self.at += 1;
            if c == '\\' && !is_raw && !self.escape() {
                return None;
            }
        }
    }

    /// Skips an escape sequence after the backslash.
    fn escape(&mut self) -> bool {
        let c = self.peek(0);
        self.at = (self.at + 1).min(self.text.len());
        let (count, octal) = match c {
            'a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '"' | '\'' | '\\' | '?' | '`' => (0, false),
            'x' | 'X' => (2, false),
            'u' => (4, false),
            'U' => (8, false),
            '0'..='3' => (2, true),
            _ => return false,
        };
        for _ in 0..count {
            let c = self.peek(0);
            let fits = if octal {
                ('0'..='7').contains(&c)
            } else {
                c.is_ascii_hexdigit()
            };
            self.at = (self.at + 1).min(self.text.len());
            if !fits {
                return false;
            }
        }
        true
    }
}
