//! Attempts to write on a state of the cache, which is behind where others write to the store, too.

use std::sync::Arc;

use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_store::{Entry, Revision};

use super::Write;

/// The outcome of an attempt that nothing refused.
pub(crate) enum Attempt<T> {
    /// The store has performed a write, or has failed to. It is not repeated: its effect may be there.
    Written(ApiResult<T>),
    /// The attempt ends without a write, because nothing changes or nothing is to be stored.
    Unwritten(T),
    /// Another writer has changed the object meanwhile.
    Overtaken,
}

impl<T> Attempt<T> {
    /// The same outcome with another result.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Attempt<U> {
        match self {
            Self::Written(result) => Attempt::Written(result.map(change)),
            Self::Unwritten(result) => Attempt::Unwritten(change(result)),
            Self::Overtaken => Attempt::Overtaken,
        }
    }
}

/// The attempts of one write on the object under a key, until one stands.
///
/// An attempt begins with the state of the cache. A write proves that this was the newest one. A refusal or an unchanged
/// object stands if the state was the newest one at some time since the request: otherwise another attempt begins with the
/// newest state, as in kube-apiserver. Without other writers the cache is always the newest state.
pub(crate) struct Attempts<'a> {
    write: &'a Write<'a>,
    key: &'a str,
    /// True if the next attempt sees everything that was written before the request.
    is_fresh: bool,
    /// The store's revision before the attempt.
    before: Revision,
}

impl<'a> Attempts<'a> {
    pub(crate) fn new(write: &'a Write<'a>, key: &'a str) -> Self {
        let storage = write.endpoint.store().storage();
        Self {
            write,
            key,
            is_fresh: !storage.is_shared(),
            before: storage.revision(),
        }
    }

    /// The state for the next attempt.
    pub(crate) fn state(&mut self) -> Option<Arc<Entry>> {
        let store = self.write.endpoint.store();
        if !self.is_fresh {
            self.before = store.storage().revision();
        }
        store.collection().get(self.key)
    }

    /// The final result, after an attempt on the state `met`; `None` if another attempt has to follow.
    ///
    /// # Errors
    ///
    /// The attempt was refused, the store has failed, or the newest state is unknown.
    pub(crate) async fn settle<T>(
        &mut self,
        met: Option<&Arc<Entry>>,
        attempt: ApiResult<Attempt<T>>,
    ) -> ApiResult<Option<T>> {
        match attempt {
            Ok(Attempt::Written(result)) => result.map(Some),
            Ok(Attempt::Overtaken) => Ok(None),
            Ok(Attempt::Unwritten(result)) => Ok(self.catch_up(met, false).await?.then_some(result)),
            Err(error) => match self.catch_up(met, depends_on_others(&error)).await? {
                true => Err(error),
                false => Ok(None),
            },
        }
    }

    /// Brings the cache up to date; true if that shows that the state `met` was the newest one. If `others` count, no other
    /// object may have changed either.
    async fn catch_up(&mut self, met: Option<&Arc<Entry>>, others: bool) -> ApiResult<bool> {
        if self.is_fresh {
            return Ok(true);
        }
        let Write { endpoint, call, .. } = self.write;
        endpoint.fresh(call).await?;
        self.is_fresh = true;
        let store = endpoint.store();
        if others {
            return Ok(store.storage().revision() == self.before);
        }
        let now = store.collection().get(self.key);
        let revision = |entry: Option<&Arc<Entry>>| entry.map(|entry| entry.revision());
        Ok(revision(now.as_ref()) == revision(met))
    }
}

/// True if other objects than the written one may be the reason of a refusal: admission plugins look at them.
pub(super) fn depends_on_others(error: &ApiError) -> bool {
    matches!(error.code(), 403 | 404)
}
