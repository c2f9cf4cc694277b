//! What is wrong with definitions beyond what a derive can see.

use std::fmt;
use std::path::PathBuf;

/// One problem: where it is, what is wrong, and what to type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    /// The file, relative to the workspace.
    pub(crate) file: PathBuf,
    /// The item in the file, e.g. `OrderSpec.items`; may be empty.
    pub(crate) item: String,
    /// What is wrong, in the user's spelling.
    pub(crate) what: String,
    /// What to type.
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

/// All problems as one text, those of a file together.
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
