//! The providers of one resource, in order: the first one writes, all of them read.

use std::sync::Arc;
use std::time::Instant;

use planesmith_store::{PlainValue, Reason, TransformError};

use crate::observer::Observer;
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
        observer.transformed("to_storage", first.prefix(), begin.elapsed(), sealed.is_ok());
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
        let mut errors: Vec<TransformError> = Vec::new();
        let begin = Instant::now();
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
            observer.transformed("from_storage", prefix, begin.elapsed(), opened.is_ok());
            match opened {
                Ok(plain) => {
                    return Ok(PlainValue {
                        is_stale: plain.is_stale || index > 0,
                        ..plain
                    });
                }
                Err(error) if errors.contains(&error) => {}
                Err(error) => errors.push(error),
            }
        }
        if errors.len() == 1 {
            return Err(errors.remove(0));
        }
        if errors.is_empty() {
            observer.transformed("from_storage", "unknown", begin.elapsed(), false);
            return Err(TransformError::new("no matching prefix found"));
        }
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Err(TransformError::new(format!("[{}]", errors.join(", "))))
    }
}
