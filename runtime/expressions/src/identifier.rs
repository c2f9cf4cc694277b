//! Legal identifiers of expressions.

/// Reserved words, which cannot be identifiers.
const RESERVED: [&str; 17] = [
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

/// Words that are literals or operators.
const OTHERS: [&str; 4] = ["true", "false", "null", "in"];

/// True if `word` is reserved for future use by the language.
pub(crate) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// True if `word` has the form of an identifier but is reserved, a literal or an operator.
pub(crate) fn is_word(word: &str) -> bool {
    OTHERS.contains(&word) || is_reserved(word)
}

/// True if `name` is a legal variable name.
#[must_use]
pub fn is_identifier(name: &str) -> bool {
    let legal = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
    let starts = name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    starts && name.bytes().all(legal) && !is_word(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_language_are_no_names() {
        for name in ["a", "_", "A1", "typename"] {
            assert!(is_identifier(name), "{name}");
        }
        for name in ["", "1a", "a-b", "ä", "in", "null", "namespace", "while"] {
            assert!(!is_identifier(name), "{name}");
        }
    }
}
