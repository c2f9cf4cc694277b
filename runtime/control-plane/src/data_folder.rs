//! The folder in which a server keeps what outlives it: for one server at a time, and always of the same program.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::private_file::{make_private_dir, write_private};

/// Held by the server that uses the folder, wherever its objects are: certificates, the kubeconfig and the note about the
/// running server are here in any case.
const LOCK: &str = "lock";
/// Names the program. Another one does not know all kinds in the store, and would take namespaces for empty that are not.
const PROGRAM: &str = "program";

/// How often a server that is about to end is waited for, and how long each time.
const ATTEMPTS: usize = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// A folder that nobody else uses until this is dropped.
#[derive(Debug)]
pub(crate) struct DataFolder {
    _lock: File,
}

impl DataFolder {
    /// The folder at `path` for the program of this name; made if there is none.
    ///
    /// # Errors
    ///
    /// When it cannot be made, when another server uses it, and when it is of another program.
    pub(crate) async fn open(path: &Path, program: &str) -> Result<Self> {
        let shown = path.display();
        make_private_dir(path).with_context(|| format!("--data-dir {shown} cannot be made"))?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let lock = options.open(path.join(LOCK));
        let lock = lock.with_context(|| format!("--data-dir {shown} cannot be written"))?;
        let mut attempts = 0;
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if attempts < ATTEMPTS => attempts += 1,
                Err(TryLockError::WouldBlock) => {
                    bail!("--data-dir {shown} is used by another server; stop it, or choose another folder")
                }
                Err(TryLockError::Error(error)) => {
                    return Err(error).with_context(|| format!("--data-dir {shown} cannot be locked"));
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
        claim(path, program)?;
        Ok(Self { _lock: lock })
    }
}

/// Checks that the folder is of this program, or of none yet, and notes it.
fn claim(path: &Path, program: &str) -> Result<()> {
    let note = path.join(PROGRAM);
    match fs::read_to_string(&note) {
        Ok(owner) if owner.trim_end() == program => Ok(()),
        Ok(owner) => bail!(
            "--data-dir {} is of {}; choose another folder, or remove {} if {program} is to take it over",
            path.display(),
            owner.trim_end(),
            note.display()
        ),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let written = write_private(&note, format!("{program}\n").as_bytes());
            written.with_context(|| format!("{} cannot be written", note.display()))
        }
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", note.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_folder_is_for_one_server_of_one_program() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        let held = DataFolder::open(&path, "planesmith").await.unwrap();
        let refused = DataFolder::open(&path, "planesmith").await.unwrap_err().to_string();
        assert!(
            refused.ends_with("is used by another server; stop it, or choose another folder"),
            "{refused}"
        );
        drop(held);
        let refused = DataFolder::open(&path, "shop").await.unwrap_err().to_string();
        assert!(
            refused.contains("is of planesmith; choose another folder, or remove"),
            "{refused}"
        );
        DataFolder::open(&path, "planesmith").await.unwrap();
        fs::remove_file(path.join(PROGRAM)).unwrap();
        DataFolder::open(&path, "shop").await.unwrap();
    }
}
