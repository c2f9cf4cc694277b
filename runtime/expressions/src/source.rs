//! The text of an expression and the problems found in it.

use std::fmt::Write;

/// The maximum number of problems listed; further ones are only counted.
const MAX_PROBLEMS: usize = 100;

/// The maximum length of a line that is quoted below a problem.
const MAX_SNIPPET: usize = 16384;

/// A start position, in characters from the start of the text.
pub(crate) type Position = u32;

/// The text of an expression as characters, and the problems found in it so far.
#[derive(Debug)]
pub(crate) struct Source {
    characters: Vec<char>,
    problems: Vec<Problem>,
    left_out: usize,
}

#[derive(Debug)]
struct Problem {
    at: Option<Position>,
    message: String,
}

impl Source {
    pub(crate) fn new(text: &str) -> Self {
        Self {
            characters: text.chars().collect(),
            problems: Vec::new(),
            left_out: 0,
        }
    }

    pub(crate) fn characters(&self) -> &[char] {
        &self.characters
    }

    pub(crate) fn end(&self) -> Position {
        Position::try_from(self.characters.len()).unwrap_or(Position::MAX)
    }

    pub(crate) fn report(&mut self, at: Position, message: impl Into<String>) {
        self.add(Some(at), message.into());
    }

    /// Reports a problem without a position.
    pub(crate) fn report_overall(&mut self, message: impl Into<String>) {
        self.add(None, message.into());
    }

    fn add(&mut self, at: Option<Position>, message: String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { at, message });
        } else {
            self.left_out += 1;
        }
    }

    pub(crate) fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    /// Renders all problems by position, each with its line and a marker below it.
    pub(crate) fn complaint(mut self) -> String {
        let mut problems = std::mem::take(&mut self.problems);
        problems.sort_by_key(|problem| problem.at.map(|at| self.line_and_column(at)));
        let mut shown: Vec<String> = problems.iter().map(|problem| self.rendered(problem)).collect();
        if self.left_out > 0 {
            shown.push(format!("{} more errors were truncated", self.left_out));
        }
        shown.join("\n")
    }

    fn rendered(&self, problem: &Problem) -> String {
        let Some(at) = problem.at else {
            return format!("ERROR: <input>:-1:0: {}", problem.message);
        };
        if self.characters.is_empty() {
            // The text has no lines to quote.
            return format!("ERROR: <input>:1:0: {}", problem.message);
        }
        let (line, column) = self.line_and_column(at);
        let mut text = format!("ERROR: <input>:{}:{}: {}", line + 1, column + 1, problem.message);
        let snippet = self.characters.split(|c| *c == '\n').nth(line).unwrap_or_default();
        if snippet.iter().map(|c| c.len_utf8()).sum::<usize>() > MAX_SNIPPET {
            return text;
        }
        text.push_str("\n | ");
        text.extend(snippet.iter().map(|c| if *c == '\t' { ' ' } else { *c }));
        text.push_str("\n | ");
        text.extend(
            snippet
                .iter()
                .take(column)
                .map(|c| if c.is_ascii() { '.' } else { '\u{ff0e}' }),
        );
        let wide = snippet.get(column).is_some_and(|c| !c.is_ascii());
        // Writing to a String cannot fail.
        let _ = text.write_char(if wide { '\u{ff3e}' } else { '^' });
        text
    }

    fn line_and_column(&self, at: Position) -> (usize, usize) {
        let before = self.characters.get(..at as usize).unwrap_or(&self.characters);
        let line = before.iter().filter(|c| **c == '\n').count();
        let column = before.iter().rev().take_while(|c| **c != '\n').count();
        (line, column)
    }
}
