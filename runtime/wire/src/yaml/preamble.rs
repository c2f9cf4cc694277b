//! Refuses text that the parser of Kubernetes refuses before it comes to the first node, and the one used here takes.

use super::YamlError;

/// Checks the characters of `text`, its directives, and the characters in front of the first word.
pub(super) fn check(text: &str) -> Result<(), YamlError> {
    if !text.chars().all(is_allowed) {
        return Err(YamlError::new("yaml: control characters are not allowed".to_owned()));
    }
    for (number, line) in text.lines().enumerate() {
        let start = line.trim_start_matches(' ');
        if start.starts_with('\t') {
            return Err(at_line(number + 1, "found character that cannot start any token"));
        }
        match line.strip_prefix('%') {
            Some(directive) => check_directive(directive, number)?,
            None if start.is_empty() || start.starts_with('#') => {}
            None => break,
        }
    }
    Ok(())
}

/// Checks a directive on a line counted from zero.
fn check_directive(directive: &str, line: usize) -> Result<(), YamlError> {
    let mut words = directive.split_ascii_whitespace();
    match words.next().unwrap_or_default() {
        "TAG" => Ok(()),
        "YAML" if words.next() == Some("1.1") => Ok(()),
        "YAML" => Err(at_line(line, "found incompatible YAML document")),
        _ => Err(at_line(line + 1, "found unknown directive name")),
    }
}

/// The first line goes without its number.
fn at_line(line: usize, found: &str) -> YamlError {
    YamlError::new(match line {
        0 | 1 => format!("yaml: {found}"),
        line => format!("yaml: line {line}: {found}"),
    })
}

fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn documents_that_go_refuses_are_refused_in_its_words() {
        let cases = [
            ("\ta: b", "yaml: found character that cannot start any token"),
            (
                "# c\n \ta: b",
                "yaml: line 2: found character that cannot start any token",
            ),
            ("%YAML 1.2\n---\na: b", "yaml: found incompatible YAML document"),
            ("%FOO\n---\n{}", "yaml: found unknown directive name"),
            ("\u{1}a: b", "yaml: control characters are not allowed"),
            ("a: \"\u{7f}\"", "yaml: control characters are not allowed"),
        ];
        for (text, expected) in cases {
            assert_eq!(check(text).expect_err(text).to_string(), expected, "{text:?}");
        }
        for text in [
            "",
            "%YAML 1.1\n---\n",
            "%TAG ! tag:x\n---\n",
            "\u{feff}a: b",
            "\n# c\n\na: b",
            "a: >\n\tb",
        ] {
            assert!(check(text).is_ok(), "{text:?}");
        }
    }
}
