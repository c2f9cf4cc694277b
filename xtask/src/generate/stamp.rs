//! Detects, without reading files, that nothing has changed since the tree was last updated.

use std::fmt::Write as _;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The input folders, relative to the workspace.
const INPUTS: [&str; 3] = ["runtime/machinery", "api-defs", "examples"];

/// The output folders.
const OUTPUTS: [&str; 2] = ["generated", "docs/reference"];

/// The sizes and modification times of all input and output files, and of this program.
///
/// As with `make`, a file counts as unchanged if its size and time are. `--check` always reads everything.
pub(super) struct Stamp {
    file: PathBuf,
    root: PathBuf,
    /// The state of the input before it is read: a file saved in the meantime counts as changed.
    read: io::Result<String>,
}

impl Stamp {
    /// Records the state of the input; called before the input is read.
    pub(super) fn read(root: &Path) -> Self {
        Self {
            file: root.join("target/generate.stamp"),
            root: root.to_owned(),
            read: state(root, &INPUTS),
        }
    }

    /// True if the state equals that of the last [`Stamp::renew`].
    pub(super) fn is_current(&self) -> bool {
        let noted = std::fs::read_to_string(&self.file);
        matches!((noted, self.state()), (Ok(noted), Ok(state)) if noted == state)
    }

    /// Records the input state from before reading, and the current output state. A failure to write the stamp only costs time.
    pub(super) fn renew(&self) {
        if let Ok(state) = self.state() {
            let _ = std::fs::write(&self.file, state);
        }
    }

    fn state(&self) -> io::Result<String> {
        let program = std::env::current_exe()?;
        let mut all = line(&program, &program.metadata()?);
        match &self.read {
            Ok(read) => all.push_str(read),
            Err(error) => return Err(error.kind().into()),
        }
        all.push_str(&state(&self.root, &OUTPUTS)?);
        Ok(all)
    }
}

/// Returns the state of all files in these folders.
fn state(root: &Path, folders: &[&str]) -> io::Result<String> {
    let mut state = String::new();
    for folder in folders {
        add(root, Path::new(folder), &mut state)?;
    }
    Ok(state)
}

fn add(root: &Path, folder: &Path, state: &mut String) -> io::Result<()> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(root.join(folder))? {
        entries.push(entry?);
    }
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = folder.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => add(root, &path, state)?,
            false => state.push_str(&line(&path, &entry.metadata()?)),
        }
    }
    Ok(())
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
        for folder in INPUTS.iter().chain(&OUTPUTS).copied().chain(["target"]) {
            std::fs::create_dir_all(tree.path().join(folder)).expect("a folder");
        }
        let stamp = || Stamp::read(tree.path());
        let (source, output) = (
            tree.path().join("api-defs/lib.rs"),
            tree.path().join("generated/lib.rs"),
        );
        assert!(!stamp().is_current(), "there is none yet");
        stamp().renew();
        assert!(stamp().is_current());
        std::fs::write(&source, "pub mod core;\n").expect("a file");
        assert!(!stamp().is_current());
        stamp().renew();
        std::fs::remove_file(&source).expect("a file");
        assert!(!stamp().is_current());
        let begun = stamp();
        std::fs::write(&output, "").expect("a file");
        begun.renew();
        assert!(stamp().is_current(), "outputs are noted as they became");
    }

    #[test]
    fn a_file_saved_during_the_read_is_a_change() {
        let tree = tempfile::tempdir().expect("a temporary folder");
        for folder in INPUTS.iter().chain(&OUTPUTS).copied().chain(["target"]) {
            std::fs::create_dir_all(tree.path().join(folder)).expect("a folder");
        }
        let begun = Stamp::read(tree.path());
        std::fs::write(tree.path().join("api-defs/lib.rs"), "pub mod core;\n").expect("a file");
        begun.renew();
        assert!(!Stamp::read(tree.path()).is_current());
    }
}
