//! Problems in definitions that a derive cannot detect.

use std::fmt;
use std::path::PathBuf;

/// A problem: its location, the mistake and the correction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    /// The file, relative to the workspace.
    pub(crate) file: PathBuf,
    /// The item in the file, e.g. `OrderSpec.items`; empty for the whole file.
    pub(crate) item: String,
    /// The mistake, in the user's spelling.
    pub(crate) what: String,
    /// The correction.
    pub(crate) help: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, item, what, help } = self;
        let item = if item.is_empty() {
            String::new()
        } else {
            format!(" `{item}`:")
        };
        writeln!(formatter, "{}:{item} {what}\n  help: {help}", file.display())
    }
}

/// Renders all problems, grouped by file.
pub(crate) fn list(problems: &[Problem]) -> String {
    let mut sorted: Vec<_> = problems.iter().collect();
    sorted.sort();
    sorted.dedup();
    let count = match sorted.len() {
        1 => "one problem".to_owned(),
        count => format!("{count} problems"),
    };
    let listed: String = sorted.iter().map(ToString::to_string).collect();
    format!("{count} in the definitions; nothing was generated\n{listed}")
}
