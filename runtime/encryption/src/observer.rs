//! Events that metrics count.

use std::fmt;
use std::time::Duration;

/// Receives what happens, for metrics.
pub trait Observer: fmt::Debug + Send + Sync {
    /// A value was transformed, or not. `operation` is `to_storage` or `from_storage`, `prefix` the beginning of the stored value.
    fn transformed(&self, operation: &'static str, prefix: &str, took: Duration, is_ok: bool);

    /// A key was not cached and is decrypted by the plugin.
    fn key_missed(&self);

    /// The plugin `provider` answered, or did not; `code` is the name of gRPC's status code.
    fn plugin_called(&self, provider: &str, method: &'static str, code: &'static str, took: Duration);

    /// A value was transformed with the key `key_id_hash` of the plugin `provider`.
    fn key_used(&self, operation: &'static str, provider: &str, key_id_hash: &str);

    /// The plugin `provider` has reported the key `key_id_hash`.
    fn key_reported(&self, provider: &str, key_id_hash: &str);

    /// The plugin `provider` has reported an invalid name of its key: `empty` or `too_long`.
    fn key_refused(&self, provider: &str, reason: &'static str);
}

/// Ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn transformed(&self, _: &'static str, _: &str, _: Duration, _: bool) {}
    fn key_missed(&self) {}
    fn plugin_called(&self, _: &str, _: &'static str, _: &'static str, _: Duration) {}
    fn key_used(&self, _: &'static str, _: &str, _: &str) {}
    fn key_reported(&self, _: &str, _: &str) {}
    fn key_refused(&self, _: &str, _: &'static str) {}
}
