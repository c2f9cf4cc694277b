//! Marks in drafts for content without an equivalent.

use std::path::Path;

/// The prefix of each mark.
const SIGN: &str = "// TODO(import): ";

/// The prefix of a mark's continuation lines.
const CONTINUATION: &str = "//   ";

/// The reported length of a mark; the file has the full text.
const MAX_QUOTED_LENGTH: usize = 160;

/// Returns a mark as a comment, wrapped.
pub(super) fn comment(indent: &str, mark: &str) -> String {
    let mut text = String::new();
    let mut line = format!("{indent}{SIGN}");
    let mut is_empty = true;
    for word in mark.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > 120 {
            text.push_str(line.trim_end());
            text.push('\n');
            line = format!("{indent}{CONTINUATION}");
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    text + line.trim_end() + "\n"
}

/// Returns the marks in a file, each with its location and the start of its text.
pub(super) fn places(path: &Path, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut places = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some((_, first)) = line.split_once(SIGN) else {
            continue;
        };
        let more = lines[index + 1..]
            .iter()
            .map_while(|line| line.trim_start().strip_prefix(CONTINUATION));
        let mark = std::iter::once(first).chain(more).collect::<Vec<_>>().join(" ");
        let shown: String = mark.chars().take(MAX_QUOTED_LENGTH).collect();
        let rest = if shown == mark { "" } else { "..." };
        places.push(format!("{}:{}: {shown}{rest}", path.display(), index + 1));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_wrapped_and_found_again() {
        let mark = format!("rule `{}`", ["self.size() > 1"; 12].join(" && "));
        let text = format!("struct A {{\n{}}}\n", comment("    ", &mark));
        assert!(text.lines().all(|line| line.len() <= 120), "{text}");
        let places = places(Path::new("a/b.rs"), &text);
        assert_eq!(places.len(), 1, "{places:?}");
        let start: String = mark.chars().take(MAX_QUOTED_LENGTH).collect();
        assert_eq!(places[0], format!("a/b.rs:2: {start}..."));
    }
}
