//! The values of one collection, as the backend has them.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;

use crate::draft::{Encoded, splice};
use crate::transformer::{self, PlainValue, Reason, TransformError, Transformer, Transformers};
use crate::{Draft, Revision};

/// Translates between plain bytes and those of the backend. Without a transformer both are the same.
///
/// A transformed value has no revision in it: so it stays valid when a restore changes revisions.
#[derive(Clone, Default)]
pub(crate) struct Values {
    transformer: Option<Arc<dyn Transformer>>,
    /// Of all collections; `None` without a transformer.
    all: Option<Arc<dyn Transformers>>,
    /// `None` if values are authenticated with the keys of the store.
    names: Option<Arc<StoredKeys>>,
}

/// Returns the key of the backend for one of the store; `None` if that is the same.
pub(crate) type StoredKeys = dyn Fn(&str) -> Option<String> + Send + Sync;

impl Values {
    /// Returns the values with keys under `prefix`.
    pub(crate) fn new(
        prefix: &str,
        transformers: Option<&Arc<dyn Transformers>>,
        names: Option<&Arc<StoredKeys>>,
    ) -> Self {
        Self {
            transformer: transformers.map(|all| all.of(prefix)),
            all: transformers.cloned(),
            names: names.cloned(),
        }
    }

    /// Fetches what opening `stored` values needs from elsewhere. Blocks if that is anything.
    pub(crate) fn prepare(&self, stored: &mut dyn Iterator<Item = &[u8]>) {
        if let Some(all) = &self.all {
            all.prepare_blocking(stored);
        }
    }

    /// The same values in a store whose keys have the same names for all.
    pub(crate) fn portable(&self) -> Self {
        Self {
            names: None,
            ..self.clone()
        }
    }

    /// Identifies the key with which values are written.
    pub(crate) fn writer(&self) -> u64 {
        self.transformer.as_ref().map_or(0, |transformer| transformer.writer())
    }

    /// True if values may be transformed.
    pub(crate) fn has_transformer(&self) -> bool {
        self.transformer.is_some()
    }

    /// The value to store for `plain` under `key`; `None` if that is `plain`.
    pub(crate) fn seal(&self, key: &str, plain: &[u8], reason: Reason) -> Result<Option<Bytes>, TransformError> {
        let Some(transformer) = &self.transformer else {
            return Ok(None);
        };
        let sealed = transformer.seal(&self.stored_key(key), plain, reason)?;
        Ok(sealed.map(Bytes::from))
    }

    /// The value to store for `draft`.
    pub(crate) fn seal_draft(&self, key: &str, draft: &Draft) -> Result<Option<Bytes>, TransformError> {
        match self.transformer {
            Some(_) => self.seal(key, draft.bytes(), Reason::Update),
            None => Ok(None),
        }
    }

    /// The plain bytes of the value that is `stored` under `key`.
    pub(crate) fn open<'s>(&self, key: &str, stored: &'s [u8]) -> Result<PlainValue<'s>, TransformError> {
        match &self.transformer {
            Some(transformer) => transformer.open(&self.stored_key(key), stored),
            None if transformer::is_encrypted(stored) => Err(TransformError::new(
                "the value is encrypted, and encryption is not configured",
            )),
            None => Ok(PlainValue {
                bytes: Cow::Borrowed(stored),
                is_stale: false,
            }),
        }
    }

    /// The plain state with `revision` in it (`None` if that is what is stored), and true if a write would store it in another way.
    pub(crate) fn open_state(
        &self,
        key: &str,
        revision: Revision,
        stored: &Encoded,
    ) -> Result<(Option<Encoded>, bool), TransformError> {
        let opened = self.open(key, &stored.bytes)?;
        let Cow::Owned(plain) = opened.bytes else {
            return Ok((None, opened.is_stale));
        };
        let bytes = match stored.gap {
            None => plain,
            Some(gap) => {
                let parts = plain.split_at_checked(gap as usize);
                let (head, tail) =
                    parts.ok_or_else(|| TransformError::new("the value is shorter than its record says"))?;
                splice(head, revision, tail)
            }
        };
        let gap = stored.gap;
        Ok((Some(Encoded { bytes, gap }), opened.is_stale))
    }

    fn stored_key<'k>(&self, key: &'k str) -> Cow<'k, str> {
        let name = self.names.as_ref().and_then(|names| names(key));
        name.map_or(Cow::Borrowed(key), Cow::Owned)
    }
}
