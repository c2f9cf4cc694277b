//! The record that a running server leaves in its data folder, for the command that reports its status.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

use crate::private_file::write_private;

/// The name of the file in the data folder.
const FILE: &str = "running.json";

/// A record of a running server.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Running {
    /// Name of the program.
    pub(crate) name: String,
    /// Version of the program.
    pub(crate) version: String,
    /// The process ID.
    pub(crate) pid: i32,
    /// The time at which it was started.
    pub(crate) since: String,
    /// The URL at which clients reach it.
    pub(crate) url: String,
    /// The place of its store.
    pub(crate) store: String,
    /// The folder with the files of its store, if it has some.
    #[serde(default)]
    pub(crate) store_folder: Option<PathBuf>,
    /// The file of the authority that signed its certificate, PEM.
    pub(crate) authority: PathBuf,
    /// The administrator's certificate.
    pub(crate) client_certificate: PathBuf,
    /// Its key.
    pub(crate) client_key: PathBuf,
}

impl Running {
    /// Reads the record of the server in `data_dir`; `None` if it has stopped in order.
    ///
    /// # Errors
    ///
    /// If the file exists and cannot be read.
    pub(crate) fn read(data_dir: &Path) -> Result<Option<Self>> {
        let path = data_dir.join(FILE);
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.with_context(|| format!("{} cannot be read", path.display()))?,
        };
        let running = serde_json::from_slice(&bytes);
        Ok(Some(running.with_context(|| format!("{} is damaged", path.display()))?))
    }

    /// Writes the record.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub(crate) fn write(&self, data_dir: &Path) -> io::Result<()> {
        write_private(&data_dir.join(FILE), &serde_json::to_vec_pretty(self)?)
    }

    /// Removes the record.
    pub(crate) fn remove(data_dir: &Path) {
        if let Err(error) = fs::remove_file(data_dir.join(FILE)) {
            tracing::debug!(%error, "the record of the running server is deleted already");
        }
    }

    /// True if the process exists.
    pub(crate) fn is_alive(&self) -> bool {
        Pid::from_raw(self.pid).is_some_and(|pid| match test_kill_process(pid) {
            Ok(()) => true,
            // The process belongs to another user.
            Err(error) => error == rustix::io::Errno::PERM,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_exists_while_the_server_runs() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Running::read(dir.path()).unwrap().is_none());
        let own = Running {
            name: "planesmith".to_owned(),
            version: "1".to_owned(),
            pid: std::process::id().try_into().unwrap(),
            since: String::new(),
            url: "https://127.0.0.1:1".to_owned(),
            store: String::new(),
            store_folder: None,
            authority: PathBuf::new(),
            client_certificate: PathBuf::new(),
            client_key: PathBuf::new(),
        };
        own.write(dir.path()).unwrap();
        let read = Running::read(dir.path()).unwrap().unwrap();
        assert!(read.is_alive() && read.url == own.url);
        Running::remove(dir.path());
        assert!(Running::read(dir.path()).unwrap().is_none());

        fs::write(dir.path().join(FILE), "{").unwrap();
        let error = Running::read(dir.path()).unwrap_err();
        assert!(error.to_string().ends_with("running.json is damaged"), "{error}");
    }
}
