//! Long files, modules whose names say nothing, paths of single machines, and texts with the indentation of a line.

use super::finding::Finding;
use super::policy::Policy;
use crate::sources::{Source, Sources};

/// The findings about the length and the modules of source files.
pub(super) fn check(sources: &Sources, policy: &Policy) -> Vec<Finding> {
    sources
        .iter()
        .flat_map(|(file, source)| of_source(file, source, policy))
        .collect()
}

fn of_source(file: &str, source: &Source, policy: &Policy) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (lines, most) = (source.lines, policy.most_lines);
    if lines > most {
        let fault = format!("{lines} lines; at most {most}");
        findings.push(Finding::new(
            (file, 0),
            fault,
            "move its second topic to a file of its own",
        ));
    }
    for module in &source.modules {
        if policy.module_names.contains(&module.name) {
            let fault = format!("a module called {}", module.name);
            let help = "move each function to the type that it serves";
            findings.push(Finding::new((file, module.line), fault, help));
        }
    }
    findings
}

/// The number of spaces that no text of a source file has between two words.
const RUN: &str = "        ";

/// The findings about strings in `file` that were continued without a backslash, and joined with their indentation.
pub(super) fn check_strings(file: &str, text: &[u8]) -> Vec<Finding> {
    let Ok(text) = std::str::from_utf8(text) else {
        return Vec::new();
    };
    let lines = text.lines().zip(1..).filter(|(line, _)| has_run(line.trim_start()));
    let findings = lines.map(|(_, line)| {
        let help = "continue the string with a backslash at the end of the line";
        Finding::new((file, line), "a run of spaces between two words".to_owned(), help)
    });
    findings.collect()
}

/// True if a run of spaces separates two words of `line`, which is no comment. The `n` of `\n` is no word.
fn has_run(line: &str) -> bool {
    !line.starts_with("//")
        && line.match_indices(RUN).any(|(start, _)| {
            let before = &line[..start];
            let ends_word = before.ends_with(|last: char| last.is_ascii_lowercase()) && !before.ends_with("\\n");
            let after = line[start..].trim_start();
            ends_word && after.starts_with(|first: char| first.is_ascii_lowercase())
        })
}

/// The findings about paths of single machines in the text of `file`.
pub(super) fn check_text(file: &str, text: &[u8], policy: &Policy) -> Vec<Finding> {
    let Ok(text) = std::str::from_utf8(text) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for path in &policy.machine_paths {
        let Some((before, _)) = text.split_once(path.as_str()) else {
            continue;
        };
        let line = before.matches('\n').count() + 1;
        let help = "name the file relative to the workspace, or use an invented path";
        findings.push(Finding::new(
            (file, line),
            format!("{path} is a path of one machine"),
            help,
        ));
    }
    findings
}
