//! The problem of a text, in the words of the parser that Kubernetes uses.

use saphyr_parser::ScanError;

use super::YamlError;
use super::node::{Content, Node};

/// Problems that the other parser names differently.
const SAME: &[(&str, &str)] = &[
    ("simple key expect ':'", "could not find expected ':'"),
    ("expected ',' or ']'", NO_BRACKET),
    ("invalid trailing content after double-quoted scalar", NO_KEY),
    ("found a tab", INDENTING_TAB),
    // Spelled as the other parser spells it.
    (
        "did not find expected hexadecimal number",
        "did not find expected hexdecimal number",
    ),
    ("tab cannot be used as indentation", NO_TOKEN),
    ("tabs disallowed in this context", NO_TOKEN),
    ("tabs disallowed within this context (block indentation)", NO_TOKEN),
];
const INDENTING_TAB: &str = "found a tab character that violates indentation";
const NO_BRACE: &str = "did not find expected ',' or '}'";
const NO_BRACKET: &str = "did not find expected ',' or ']'";
const NO_CONTENT: &str = "did not find expected node content";
const NO_KEY: &str = "did not find expected key";
const NO_TOKEN: &str = "found character that cannot start any token";

/// The activity of the other parser when it finds a problem behind the scanner.
const PARSING: &[&str] = &[
    "while parsing a block mapping",
    "while parsing a block collection",
    "while parsing a flow mapping",
    "while parsing a flow sequence",
];

/// Says what `error` found in `text`; `open` is the innermost collection that has not ended.
///
/// The other parser tells the line only where it is not the first one. Problems between words are on lines counted from
/// one, those between nodes on lines counted from zero, and of a collection that does not end it tells where it starts.
pub(super) fn problem(error: &ScanError, text: &str, open: Option<&Node>) -> YamlError {
    let info = error.info();
    let (doing, found) = match info.split_once(", ") {
        Some((doing, found)) if doing.starts_with("while ") => (doing, found),
        _ => ("", info),
    };
    if found == "found unknown anchor" {
        let name = text.chars().skip(error.marker().index() + 1);
        let name: String = name
            .take_while(|letter| letter.is_alphanumeric() || "-_".contains(*letter))
            .collect();
        return YamlError::quoting(
            format!("yaml: unknown anchor '{name}' referenced"),
            "yaml: unknown anchor referenced",
        );
    }
    if found.starts_with("recursion limit") {
        return YamlError::new("yaml: exceeded max depth of 10000".to_owned());
    }
    let same = SAME.iter().find(|(ours, _)| *ours == found).map(|(_, theirs)| *theirs);
    let found = match found {
        "illegal placement of ':' indicator" => match open.map(|open| &open.content) {
            Some(Content::Mapping(_)) => NO_BRACE,
            _ => NO_BRACKET,
        },
        "misplaced bracket" => match open.map(|open| &open.content) {
            Some(Content::Mapping(children)) if children.len() % 2 == 0 => NO_KEY,
            _ => NO_CONTENT,
        },
        found if found.starts_with("unexpected character") => NO_TOKEN,
        found => same.unwrap_or(found),
    };
    let line = error.marker().line();
    let before = line.saturating_sub(1);
    let shown = match found {
        // The marker is at the start of what the tab stands in.
        INDENTING_TAB => {
            let mut behind = text.lines().skip(line);
            let indented = behind.position(|line| line.trim_start_matches(' ').starts_with('\t'));
            line + 1 + indented.unwrap_or_default()
        }
        // A key that nothing follows is missed on the next line.
        "could not find expected ':'" => before,
        _ if PARSING.contains(&doing) || [NO_BRACE, NO_BRACKET, NO_KEY].contains(&found) => match open {
            Some(open) if open.line > 1 => open.line - 1,
            _ => before,
        },
        NO_CONTENT => before,
        // Noticed where the text ends, not where the quotes begin.
        "found unexpected end of stream" => match text.matches('\n').count() {
            0 => 0,
            lines => lines + 1,
        },
        _ if found.starts_with("did not find expected <") => before,
        _ if line == 1 => 0,
        _ => line,
    };
    YamlError::new(match shown {
        0 => format!("yaml: {found}"),
        line => format!("yaml: line {line}: {found}"),
    })
}
