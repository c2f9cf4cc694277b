//! Long files, modules whose names say nothing, and paths of single machines.

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
