//! Metrics of tokens of service accounts.

use std::sync::Arc;

use planesmith_access::authentication::service_account::{TokenUse, TokenUses};
use prometheus::{IntCounter, Registry};

use super::VALID;

/// The metrics of tokens of service accounts.
#[derive(Debug)]
pub(super) struct TokenUseMetrics {
    valid: IntCounter,
    stale: IntCounter,
    legacy: IntCounter,
    generated: IntCounter,
    manual: IntCounter,
    invalidated: IntCounter,
}

impl TokenUseMetrics {
    pub(super) fn new(registry: &Registry) -> Arc<Self> {
        let counter = |name: &str, help: &str| {
            let counter = IntCounter::new(format!("serviceaccount_{name}_total"), help).expect(VALID);
            super::add(registry, counter.clone());
            counter
        };
        Arc::new(Self {
            valid: counter("valid_tokens", "Verified tokens that are bound to objects."),
            stale: counter(
                "stale_tokens",
                "Verified tokens that their clients should have replaced.",
            ),
            legacy: counter("legacy_tokens", "Verified tokens that are stored in secrets."),
            generated: counter(
                "legacy_auto_token_uses",
                "Verified tokens in secrets that were made for each account.",
            ),
            manual: counter(
                "legacy_manual_token_uses",
                "Verified tokens in secrets that users made.",
            ),
            invalidated: counter(
                "invalid_legacy_auto_token_uses",
                "Tokens in secrets that were refused because they are marked as invalid.",
            ),
        })
    }
}

impl TokenUses for TokenUseMetrics {
    fn used(&self, token: TokenUse) {
        let counter = match token {
            TokenUse::Valid => &self.valid,
            TokenUse::Stale => &self.stale,
            TokenUse::Legacy => &self.legacy,
            TokenUse::Generated => &self.generated,
            TokenUse::Manual => &self.manual,
            TokenUse::Invalidated => &self.invalidated,
        };
        counter.inc();
    }
}
