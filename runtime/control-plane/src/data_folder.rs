//! The data folder: in use by one server at a time, and always of the same program.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::private_file::{make_private_dir, write_private};

/// The file with the name of the program. Another program does not know all kinds in the store, and would take
/// namespaces with objects for empty.
const PROGRAM: &str = "program";

/// A locked data folder, unlocked when this is dropped. Certificates, the kubeconfig and the record of the running
/// server are in it even if the objects are not.
#[derive(Debug)]
pub(crate) struct DataFolder {
    _lock: File,
}

impl DataFolder {
    /// Opens the folder at `path` for the program of this name; creates it if there is none.
    ///
    /// # Errors
    ///
    /// If it cannot be created, is in use by another server, or belongs to another program.
    pub(crate) async fn open(path: &Path, program: &str) -> Result<Self> {
        let shown = path.display();
        make_private_dir(path).with_context(|| format!("--data-dir {shown} cannot be created"))?;
        let folder = path.to_owned();
        let lock = tokio::task::spawn_blocking(move || planesmith_store_sled::lock(&folder)).await?;
        let lock = lock.with_context(|| format!("--data-dir {shown} cannot be used"))?;
        claim(path, program)?;
        Ok(Self { _lock: lock })
    }
}

/// Checks that the folder is of this program, or of none yet, and records it.
fn claim(path: &Path, program: &str) -> Result<()> {
    let note = path.join(PROGRAM);
    match fs::read_to_string(&note) {
        Ok(owner) if owner.trim_end() == program => Ok(()),
        Ok(owner) => bail!(
            "--data-dir {} belongs to {}; choose another folder, or remove {} if {program} is to take it over",
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
        let refused = format!("{:#}", DataFolder::open(&path, "planesmith").await.unwrap_err());
        assert!(
            refused.ends_with("is used by another process; stop it, or choose another folder"),
            "{refused}"
        );
        drop(held);
        let refused = DataFolder::open(&path, "shop").await.unwrap_err().to_string();
        assert!(
            refused.contains("belongs to planesmith; choose another folder, or remove"),
            "{refused}"
        );
        DataFolder::open(&path, "planesmith").await.unwrap();
        fs::remove_file(path.join(PROGRAM)).unwrap();
        DataFolder::open(&path, "shop").await.unwrap();
    }
}
