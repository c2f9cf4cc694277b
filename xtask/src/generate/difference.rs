//! Differences between the tree and the rendered files.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use similar::TextDiff;

/// A file in the tree that differs from the rendered one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The path, relative to the workspace.
    pub(crate) path: PathBuf,
    /// The kind of difference.
    pub(crate) change: Change,
}

/// The kind of difference of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The file does not exist.
    Missing { wanted: String },
    /// The file has other content.
    Stale { present: String, wanted: String },
    /// The file has no definition any more.
    Orphaned,
}

impl Change {
    /// Returns the change as one word.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "missing",
            Self::Stale { .. } => "stale",
            Self::Orphaned => "orphaned",
        }
    }
}

impl Difference {
    /// Applies the change to the tree.
    pub(crate) fn resolve(&self, root: &Path) -> Result<()> {
        let path = root.join(&self.path);
        let result = match &self.change {
            Change::Missing { wanted } | Change::Stale { wanted, .. } => {
                let folder = path.parent().expect("a path relative to the workspace has a folder");
                std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, wanted))
            }
            Change::Orphaned => std::fs::remove_file(&path).map(|()| remove_empty_folders(&path)),
        };
        result.with_context(|| format!("writing {}", path.display()))
    }

    /// Returns a line that describes the applied change.
    pub(crate) fn done(&self) -> String {
        let done = match &self.change {
            Change::Missing { .. } => "wrote",
            Change::Stale { .. } => "updated",
            Change::Orphaned => "removed",
        };
        format!("{done} {}", self.path.display())
    }
}

/// Removes the folder of a removed file and its parents, as long as they are empty.
fn remove_empty_folders(path: &Path) {
    for folder in path.ancestors().skip(1) {
        if std::fs::remove_dir(folder).is_err() {
            return; // not empty
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}: {}", self.change.word(), self.path.display())?;
        if let Change::Stale { present, wanted } = &self.change {
            let diff = TextDiff::from_lines(present.as_str(), wanted.as_str());
            let mut unified = diff.unified_diff();
            write!(
                formatter,
                "{}",
                unified.context_radius(3).header("in the tree", "wanted")
            )?;
        }
        Ok(())
    }
}

/// Returns a summary such as "2 files missing, 1 stale".
pub(crate) fn summary(differences: &[Difference]) -> String {
    let count = |word: &str| {
        differences
            .iter()
            .filter(|difference| difference.change.word() == word)
            .count()
    };
    let parts = ["missing", "stale", "orphaned"].map(|word| (count(word), word));
    let parts: Vec<_> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    parts.join(", ")
}
