//! The providers of one resource, in order: the first one writes, all of them read.

use std::sync::Arc;
use std::time::Instant;

use planesmith_machinery::go_format;
use planesmith_store::{PlainValue, Reason, TransformError};

use crate::observer::{EncryptionEvent, Observer};
use crate::provider::{IDENTITY_WRITER, Provider};

/// The providers of one resource.
pub(crate) struct Chain {
    providers: Vec<Arc<Provider>>,
}

impl Chain {
    pub(crate) fn new(providers: Vec<Arc<Provider>>) -> Self {
        Self { providers }
    }

    /// Identifies the key that writes.
    pub(crate) fn writer(&self) -> u64 {
        self.providers.first().map_or(IDENTITY_WRITER, |first| first.writer())
    }

    /// True if values are stored encrypted.
    pub(crate) fn encrypts(&self) -> bool {
        self.providers
            .first()
            .is_some_and(|first| !matches!(**first, Provider::Identity))
    }

    /// The value to store for `plain` in the context of its key.
    pub(crate) fn seal(
        &self,
        context: &str,
        plain: &[u8],
        reason: Reason,
        observer: &dyn Observer,
    ) -> Result<Option<Vec<u8>>, TransformError> {
        let Some(first) = self.providers.first() else {
            return Ok(None);
        };
        let begin = Instant::now();
        let sealed = first.seal(context, plain, reason);
        observer.observe(&EncryptionEvent::Transformed {
            operation: "to_storage",
            prefix: first.prefix(),
            took: begin.elapsed(),
            is_ok: sealed.is_ok(),
        });
        sealed
    }

    /// The plain bytes of `stored` in the context of its key. Every provider with its prefix is tried: one may be listed several
    /// times, with keys of the same name.
    pub(crate) fn open<'s>(
        &self,
        context: &str,
        stored: &'s [u8],
        observer: &dyn Observer,
    ) -> Result<PlainValue<'s>, TransformError> {
        let mut errors: Vec<String> = Vec::new();
        let begin = Instant::now();
        let count = |prefix: &str, is_ok: bool| {
            observer.observe(&EncryptionEvent::Transformed {
                operation: "from_storage",
                prefix,
                took: begin.elapsed(),
                is_ok,
            });
        };
        for (index, provider) in self.providers.iter().enumerate() {
            if !stored.starts_with(provider.prefix().as_bytes()) {
                continue;
            }
            let opened = provider.open(context, stored);
            let is_identity = matches!(**provider, Provider::Identity);
            if is_identity && opened.is_err() {
                // Values of later providers are read while encryption is switched off.
                continue;
            }
            let prefix = if is_identity { "identity" } else { provider.prefix() };
            count(prefix, opened.is_ok());
            match opened {
                Ok(plain) => {
                    return Ok(PlainValue {
                        is_stale: plain.is_stale || index > 0,
                        ..plain
                    });
                }
                Err(error) => errors.push(error.to_string()),
            }
        }
        if errors.is_empty() {
            count("unknown", false);
            return Err(TransformError::new("no matching prefix found"));
        }
        Err(TransformError::new(go_format::aggregate(&errors)))
    }
}
