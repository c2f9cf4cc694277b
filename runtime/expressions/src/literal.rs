//! Decodes string and bytes literals.

/// Returns the content of a quoted literal, or the error in it. Bytes literals can contain invalid UTF-8.
pub(crate) fn unquote(quoted: &str, is_bytes: bool) -> Result<Vec<u8>, String> {
    let raw = quoted.strip_prefix(['r', 'R']);
    let text = raw.unwrap_or(quoted);
    let text = match text {
        long if long.len() >= 6 && (long.starts_with("\"\"\"") || long.starts_with("'''")) => &long[3..long.len() - 3],
        short if short.len() >= 2 => &short[1..short.len() - 1],
        _ => return Err("unable to unescape string".to_owned()),
    };
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    if raw.is_some() || !text.contains('\\') {
        return Ok(text.into_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            push(&mut bytes, c);
            continue;
        }
        let escape = rest
            .next()
            .ok_or("unable to unescape string, found '\\' as last character")?;
        let simple = match escape {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\\' | '\'' | '"' | '`' | '?' => escape,
            _ => {
                let (digits, radix) = match escape {
                    'x' | 'X' => (2, 16),
                    'u' => (4, 16),
                    'U' => (8, 16),
                    _ => (2, 8),
                };
                let mut code = escape.to_digit(8).filter(|_| radix == 8).unwrap_or_default();
                for _ in 0..digits {
                    let digit = rest.next().and_then(|c| c.to_digit(radix));
                    code = code * radix + digit.ok_or("unable to unescape string")?;
                }
                match (is_bytes, escape) {
                    (true, 'u' | 'U') => return Err("unable to unescape string".to_owned()),
                    (true, _) => bytes.push(u8::try_from(code).unwrap_or(u8::MAX)),
                    (false, _) => push(&mut bytes, char::from_u32(code).ok_or("invalid unicode code point")?),
                }
                continue;
            }
        };
        push(&mut bytes, simple);
    }
    Ok(bytes)
}

fn push(bytes: &mut Vec<u8>, c: char) {
    bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}
