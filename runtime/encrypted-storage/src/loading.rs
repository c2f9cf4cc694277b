//! The file of `--encryption-provider-config` as providers.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, Result, anyhow};
use planesmith_control_plane::followed_file::FollowedFile;
use planesmith_encryption::{
    Encryption, EncryptionConfiguration, EncryptionEvent, Observer, ResourceNames, Snapshot, Validation,
};
use planesmith_machinery::scheme::Scheme;
use planesmith_server::metrics::EncryptionMetrics;

/// The providers of the file that is in use.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) file: FollowedFile,
    /// The rules for the file.
    pub(crate) validation: Validation,
    pub(crate) encryption: Encryption,
    pub(crate) observer: Arc<LateObserver>,
}

/// Passes events on to the metrics of the server, which exist later than its store.
#[derive(Debug, Default)]
pub(crate) struct LateObserver {
    metrics: OnceLock<Arc<EncryptionMetrics>>,
}

impl Loaded {
    /// Loads the file at `path` for the kinds in `scheme`. Plugins begin to be called.
    pub(crate) fn open(path: &Path, validation: Validation, scheme: &Scheme) -> Result<Self> {
        let observer = Arc::<LateObserver>::default();
        let load = || {
            let file = FollowedFile::open(path)?;
            let configuration = parse(file.content())?;
            let snapshot = Snapshot::new(&configuration, validation, &observer.shared())?;
            anyhow::Ok((file, snapshot))
        };
        let (file, snapshot) = load().with_context(|| format!("--encryption-provider-config {}", path.display()))?;
        let names = scheme.iter().filter(|facts| facts.is_hub()).map(|facts| {
            (
                facts.storage_prefix(),
                facts.group.to_string(),
                facts.plural.to_string(),
            )
        });
        Ok(Self {
            file,
            validation,
            encryption: Encryption::new(ResourceNames::new(names), snapshot, observer.shared()),
            observer,
        })
    }

    /// Returns the providers of `content`, which take the place of the present ones.
    pub(crate) fn successor(&self, content: &[u8]) -> Result<Snapshot> {
        let current = self.encryption.current();
        Ok(current.successor(&parse(content)?, self.validation, &self.observer.shared())?)
    }
}

fn parse(content: &[u8]) -> Result<EncryptionConfiguration> {
    EncryptionConfiguration::parse(content).map_err(|problem| anyhow!(problem))
}

impl LateObserver {
    /// Passes events on to `metrics` from now on.
    pub(crate) fn pass_to(&self, metrics: Arc<EncryptionMetrics>) {
        // A store belongs to one server, which sets it once.
        let _ = self.metrics.set(metrics);
    }

    fn shared(self: &Arc<Self>) -> Arc<dyn Observer> {
        Arc::<Self>::clone(self)
    }
}

impl Observer for LateObserver {
    fn observe(&self, event: &EncryptionEvent<'_>) {
        let Some(metrics) = self.metrics.get() else {
            return;
        };
        match *event {
            EncryptionEvent::Transformed {
                operation,
                prefix,
                took,
                is_ok,
            } => metrics.transformed(operation, prefix, took, is_ok),
            EncryptionEvent::KeyMissed => metrics.key_missed(),
            EncryptionEvent::PluginCalled {
                provider,
                method,
                code,
                took,
            } => metrics.plugin_called(provider, method, code, took),
            EncryptionEvent::KeyUsed {
                operation,
                provider,
                key_id_hash,
            } => metrics.key_used(operation, provider, key_id_hash),
            EncryptionEvent::KeyReported { provider, key_id_hash } => metrics.key_reported(provider, key_id_hash),
            EncryptionEvent::KeyRefused { provider, reason } => metrics.key_refused(provider, reason),
        }
    }
}
