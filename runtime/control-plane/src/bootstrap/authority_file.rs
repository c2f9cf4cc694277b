//! A file of certificate authorities that may be replaced while the server runs.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use planesmith_machinery::der::decode;
use planesmith_machinery::pem;
use x509_cert::Certificate;

/// A PEM file of authorities. Clones share the content that was read last.
#[derive(Clone, Debug)]
pub struct AuthorityFile {
    path: PathBuf,
    /// The last valid content.
    last: Arc<Mutex<String>>,
}

impl AuthorityFile {
    /// Reads the file at `path`.
    ///
    /// # Errors
    ///
    /// The file cannot be read; the error names it.
    pub fn open(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
        Ok(Self {
            path: path.to_owned(),
            last: Arc::new(Mutex::new(text)),
        })
    }

    /// Returns the content of the file now. While the file is missing or has no certificate, as in the middle of
    /// being replaced, its last valid content.
    #[must_use]
    pub fn read(&self) -> String {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match std::fs::read_to_string(&self.path) {
            Ok(text) if holds_certificates(&text) => *last = text,
            Ok(_) => {
                tracing::warn!(path = %self.path.display(), "the file contains no certificates; its previous ones remain in use")
            }
            Err(error) => {
                tracing::warn!(path = %self.path.display(), %error, "the file cannot be read; its previous certificates remain in use");
            }
        }
        last.clone()
    }
}

/// True if `text` has a certificate in PEM, and all of its certificates can be read. Blocks of other types do not count.
fn holds_certificates(text: &str) -> bool {
    let certificates = pem::contents(text.as_bytes(), pem::CERTIFICATE);
    let readable = certificates.filter(|der| decode::<Certificate>(der).is_ok()).count();
    // A file that is being written may end in the middle of a block.
    let begun = text
        .lines()
        .filter(|line| line.starts_with("-----BEGIN CERTIFICATE-----"));
    readable > 0 && readable == begun.count()
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::clock::SystemClock;

    use super::*;
    use crate::certificates::Authority;

    #[test]
    fn a_file_that_is_damaged_or_missing_keeps_its_last_certificates() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trusted.crt");
        let authority = Authority::open(dir.path(), Arc::new(SystemClock))
            .unwrap()
            .certificate_pem()
            .to_owned();
        assert!(AuthorityFile::open(&path).is_err());
        std::fs::write(&path, &authority).unwrap();
        let file = AuthorityFile::open(&path).unwrap();
        for broken in [
            "",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            &authority[..authority.len() / 2],
        ] {
            std::fs::write(&path, broken).unwrap();
            assert_eq!(file.read(), authority);
        }
        let with_others = format!("-----BEGIN NOTE-----\nAAAA\n-----END NOTE-----\n{authority}");
        std::fs::write(&path, &with_others).unwrap();
        assert_eq!(file.read(), with_others);
        std::fs::write(&path, &authority).unwrap();
        assert_eq!(file.read(), authority);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(file.read(), authority);
    }
}
