//! Events that metrics count.

use std::fmt;
use std::time::Duration;

/// Receives what happens, for metrics.
pub trait Observer: fmt::Debug + Send + Sync {
    /// Counts an event.
    fn observe(&self, event: &EncryptionEvent<'_>);
}

/// Something that metrics count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EncryptionEvent<'e> {
    /// A value was transformed, or was not.
    Transformed {
        /// `to_storage` or `from_storage`.
        operation: &'static str,
        /// The beginning of the stored value.
        prefix: &'e str,
        /// The time that it took.
        took: Duration,
        /// False if it failed.
        is_ok: bool,
    },
    /// A key was not cached, and the plugin is requested to decrypt it.
    KeyMissed,
    /// A plugin has answered, or has not.
    PluginCalled {
        /// The name of the plugin.
        provider: &'e str,
        /// The path of the method.
        method: &'static str,
        /// The name of gRPC's status code.
        code: &'static str,
        /// The time that it took.
        took: Duration,
    },
    /// A value was transformed with a key of a plugin.
    KeyUsed {
        /// `to_storage` or `from_storage`.
        operation: &'static str,
        /// The name of the plugin.
        provider: &'e str,
        /// The digest of the key's name.
        key_id_hash: &'e str,
    },
    /// A plugin has reported its key.
    KeyReported {
        /// The name of the plugin.
        provider: &'e str,
        /// The digest of the key's name.
        key_id_hash: &'e str,
    },
    /// A plugin has reported an invalid name of its key.
    KeyRefused {
        /// The name of the plugin.
        provider: &'e str,
        /// `empty` or `too_long`.
        reason: &'static str,
    },
}

/// Ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn observe(&self, _: &EncryptionEvent<'_>) {}
}
