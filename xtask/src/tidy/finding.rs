//! One thing to mend.

use std::fmt;

/// One thing to mend: the place, the fault and the next step.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Finding {
    /// The file, relative to the workspace.
    pub(super) file: String,
    /// The line, counted from 1; 0 means the whole file.
    pub(super) line: usize,
    /// The fault, in the spelling of the source.
    pub(super) fault: String,
    /// The next step.
    pub(super) help: String,
}

impl Finding {
    /// A finding in `file` at `line`.
    pub(super) fn new(
        (file, line): (impl Into<String>, usize),
        fault: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            file: file.into(),
            line,
            fault: fault.into(),
            help: help.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            fault,
            help,
        } = self;
        match line {
            0 => write!(formatter, "{file}: {fault}; {help}"),
            line => write!(formatter, "{file}:{line}: {fault}; {help}"),
        }
    }
}
