//! Names and texts in expressions.

/// Words that mean something else in CEL.
const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Whether expressions can name a variable so.
pub(super) fn is_identifier(name: &str) -> bool {
    let word = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
    let starts = name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    let reserved = RESERVED.contains(&name);
    starts && name.bytes().all(word) && !reserved
}

/// Whether a text has more than one line.
pub(super) fn has_line_breaks(text: &str) -> bool {
    text.contains(['\n', '\r'])
}
