//! Marks in drafts: what the description says and the draft does not.

use std::path::Path;

/// What each mark starts with.
const SIGN: &str = "// TODO(import): ";

/// A mark as a comment, wrapped.
pub(super) fn comment(indent: &str, mark: &str) -> String {
    let mut text = String::new();
    let mut line = format!("{indent}{SIGN}");
    let mut is_empty = true;
    for word in mark.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > 120 {
            text.push_str(line.trim_end());
            text.push('\n');
            line = format!("{indent}//   ");
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

/// The marks in a file, each with its place and its first line.
pub(super) fn places(path: &Path, text: &str) -> Vec<String> {
    let marked = text.lines().enumerate().filter_map(|(index, line)| {
        let (_, mark) = line.split_once(SIGN)?;
        Some(format!("{}:{}: {mark}", path.display(), index + 1))
    });
    marked.collect()
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
        assert!(
            places[0].starts_with("a/b.rs:2: rule `self.size() > 1 && "),
            "{places:?}"
        );
    }
}
