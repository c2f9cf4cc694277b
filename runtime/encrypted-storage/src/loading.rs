//! The file of `--encryption-provider-config` as providers.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use planesmith_encryption::{Encryption, EncryptionConfiguration, Observer, ResourceNames, Snapshot, Validation};
use planesmith_machinery::scheme::Scheme;

/// Maximum bytes of the file.
const LIMIT: u64 = 1 << 20;

/// The file, and the rules for it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) validation: Validation,
}

/// The providers of the file that is in use.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) source: Source,
    pub(crate) encryption: Encryption,
    pub(crate) observer: Arc<LateObserver>,
    /// The content of the file that is in use.
    pub(crate) content: Vec<u8>,
}

/// Passes events on to the metrics of the server, which exist later than its store.
#[derive(Debug, Default)]
pub(crate) struct LateObserver {
    pub(crate) observer: OnceLock<Arc<dyn Observer>>,
}

impl Source {
    /// Reads the file.
    pub(crate) fn read(&self) -> Result<Vec<u8>> {
        let size = fs::metadata(&self.path)?.len();
        anyhow::ensure!(size <= LIMIT, "the file has {size} bytes; at most {LIMIT} are read");
        Ok(fs::read(&self.path)?)
    }

    /// Returns the providers of `content`; plugins begin to be asked.
    pub(crate) fn snapshot(&self, content: &[u8], observer: &Arc<LateObserver>) -> Result<Snapshot> {
        let configuration = EncryptionConfiguration::parse(content).map_err(|problem| anyhow!(problem))?;
        let observer: Arc<dyn Observer> = Arc::<LateObserver>::clone(observer);
        Ok(Snapshot::new(&configuration, self.validation, &observer)?)
    }

    /// Loads the file for the kinds in `scheme`.
    pub(crate) fn load(self, scheme: &Scheme) -> Result<Loaded> {
        let observer = Arc::<LateObserver>::default();
        let load = || {
            let content = self.read()?;
            let snapshot = self.snapshot(&content, &observer)?;
            anyhow::Ok((content, snapshot))
        };
        let context = || format!("--encryption-provider-config {}", self.path.display());
        let (content, snapshot) = load().with_context(context)?;
        let names = scheme.iter().filter(|facts| facts.is_hub()).map(|facts| {
            (
                facts.storage_prefix(),
                facts.group.to_string(),
                facts.plural.to_string(),
            )
        });
        let encryption = Encryption::new(
            ResourceNames::new(names),
            snapshot,
            Arc::<LateObserver>::clone(&observer),
        );
        Ok(Loaded {
            source: self,
            encryption,
            observer,
            content,
        })
    }
}

impl Observer for LateObserver {
    fn transformed(&self, operation: &'static str, prefix: &str, took: Duration, is_ok: bool) {
        if let Some(observer) = self.observer.get() {
            observer.transformed(operation, prefix, took, is_ok);
        }
    }

    fn key_missed(&self) {
        if let Some(observer) = self.observer.get() {
            observer.key_missed();
        }
    }

    fn plugin_called(&self, provider: &str, method: &'static str, code: &'static str, took: Duration) {
        if let Some(observer) = self.observer.get() {
            observer.plugin_called(provider, method, code, took);
        }
    }

    fn key_used(&self, operation: &'static str, provider: &str, key_id_hash: &str) {
        if let Some(observer) = self.observer.get() {
            observer.key_used(operation, provider, key_id_hash);
        }
    }

    fn key_reported(&self, provider: &str, key_id_hash: &str) {
        if let Some(observer) = self.observer.get() {
            observer.key_reported(provider, key_id_hash);
        }
    }

    fn key_refused(&self, provider: &str, reason: &'static str) {
        if let Some(observer) = self.observer.get() {
            observer.key_refused(provider, reason);
        }
    }
}
