//! Splits a label selector into tokens.

/// A token of a label selector, with its text for error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item<'a> {
    pub(super) token: Token,
    pub(super) text: &'a str,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    End,
    Identifier,
    In,
    NotIn,
    Open,
    Close,
    Comma,
    Not,
    Equals,
    DoubleEquals,
    NotEquals,
    Greater,
    Less,
}

/// Returns the items of a selector; the last one is always [`Token::End`].
pub(super) fn items(text: &str) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    // A NUL byte ends the selector, as in kube-apiserver.
    let mut rest = text.split('\0').next().unwrap_or("");
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let (item, length) = first(rest);
        items.push(item);
        if item.token == Token::End {
            return items;
        }
        rest = &rest[length..];
    }
}

fn first(rest: &str) -> (Item<'_>, usize) {
    const SYMBOLS: [(&str, Token); 9] = [
        ("==", Token::DoubleEquals),
        ("!=", Token::NotEquals),
        ("=", Token::Equals),
        ("!", Token::Not),
        ("(", Token::Open),
        (")", Token::Close),
        (",", Token::Comma),
        (">", Token::Greater),
        ("<", Token::Less),
    ];
    if rest.is_empty() {
        return (
            Item {
                token: Token::End,
                text: "",
            },
            0,
        );
    }
    if let Some((symbol, token)) = SYMBOLS.into_iter().find(|(symbol, _)| rest.starts_with(symbol)) {
        return (
            Item {
                token,
                text: &rest[..symbol.len()],
            },
            symbol.len(),
        );
    }
    let is_end = |c: char| matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<' | ' ' | '\t' | '\r' | '\n');
    let word = &rest[..rest.find(is_end).unwrap_or(rest.len())];
    let token = match word {
        "in" => Token::In,
        "notin" => Token::NotIn,
        _ => Token::Identifier,
    };
    (Item { token, text: word }, word.len())
}
