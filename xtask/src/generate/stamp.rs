//! Whether anything has changed since the tree was last brought up to date, without reading it.

use std::fmt::Write as _;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What is read or written, relative to the workspace.
const WATCHED: [&str; 5] = [
    "runtime/machinery",
    "api-defs",
    "examples",
    "generated",
    "docs/reference",
];

/// The sizes and times of all files that are read or written, and of this program.
///
/// As with `make`, a file counts as unchanged while its size and time are. `--check` reads everything all the same.
pub(super) struct Stamp {
    file: PathBuf,
    root: PathBuf,
}

impl Stamp {
    pub(super) fn of(root: &Path) -> Self {
        Self {
            file: root.join("target/generate.stamp"),
            root: root.to_owned(),
        }
    }

    /// Whether everything is as it was when [`Stamp::renew`] was called last.
    pub(super) fn is_current(&self) -> bool {
        let noted = std::fs::read_to_string(&self.file);
        matches!((noted, self.state()), (Ok(noted), Ok(state)) if noted == state)
    }

    /// Notes how everything is now. A stamp that cannot be written only costs time.
    pub(super) fn renew(&self) {
        if let Ok(state) = self.state() {
            let _ = std::fs::write(&self.file, state);
        }
    }

    fn state(&self) -> io::Result<String> {
        let program = std::env::current_exe()?;
        let mut state = line(&program, &program.metadata()?);
        for folder in WATCHED {
            self.add(Path::new(folder), &mut state)?;
        }
        Ok(state)
    }

    fn add(&self, folder: &Path, state: &mut String) -> io::Result<()> {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(self.root.join(folder))? {
            entries.push(entry?);
        }
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let path = folder.join(entry.file_name());
            match entry.file_type()?.is_dir() {
                true => self.add(&path, state)?,
                false => state.push_str(&line(&path, &entry.metadata()?)),
            }
        }
        Ok(())
    }
}

fn line(path: &Path, metadata: &Metadata) -> String {
    let changed = metadata.modified().ok();
    let changed = changed.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    let mut line = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        line,
        "{} {} {}",
        path.display(),
        metadata.len(),
        changed.unwrap_or_default().as_nanos()
    );
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_current_until_a_file_changes() {
        let tree = tempfile::tempdir().expect("a temporary folder");
        for folder in WATCHED.iter().copied().chain(["target"]) {
            std::fs::create_dir_all(tree.path().join(folder)).expect("a folder");
        }
        let stamp = Stamp::of(tree.path());
        assert!(!stamp.is_current(), "there is none yet");
        stamp.renew();
        assert!(stamp.is_current());
        std::fs::write(tree.path().join("api-defs/lib.rs"), "pub mod core;\n").expect("a file");
        assert!(!stamp.is_current());
        stamp.renew();
        std::fs::remove_file(tree.path().join("api-defs/lib.rs")).expect("a file");
        assert!(!stamp.is_current());
    }
}
