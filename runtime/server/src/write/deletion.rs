//! Deletions: the steps in front of the encoding of an object that is removed or marked as terminating.

use std::sync::Arc;

use planesmith_machinery::object::Object;
use planesmith_machinery::status::ApiResult;
use planesmith_store::Entry;

use super::{Committed, Write};
use crate::options::DeleteOptions;

/// An object that a request deletes: in the storage version, or in the one in which it was stored if another program would
/// have to convert it.
pub(crate) struct Deletion<'s> {
    key: &'s str,
    entry: Arc<Entry>,
    object: Box<dyn Object>,
}

/// A deletion that the admission plugins have accepted.
pub(crate) struct AdmittedDeletion<'s>(Deletion<'s>);

impl Write<'_> {
    /// Reads the object of `entry` to delete it. As in kube-apiserver, a client cannot delete an object that cannot be read in
    /// the version of its request.
    ///
    /// # Errors
    ///
    /// 500 when it cannot be read, or not be converted to the version of the request; 429 when that is expensive and too much
    /// work waits.
    pub(crate) async fn begin_deletion<'s>(&self, key: &'s str, entry: &Arc<Entry>) -> ApiResult<Deletion<'s>> {
        self.endpoint.check_conversion(self.call, entry).await?;
        let read = || self.endpoint.store().decode_to_delete(entry);
        let object = self.run(entry.size(), read).await??;
        let entry = Arc::clone(entry);
        Ok(Deletion { key, entry, object })
    }
}

impl<'s> Deletion<'s> {
    /// The object.
    pub(crate) fn object(&self) -> &dyn Object {
        &*self.object
    }

    /// Runs the plugins for the deletion, unless they have accepted the request that it is a part of. They see `grace_period` in the
    /// options, unless the request is for a collection.
    ///
    /// # Errors
    ///
    /// The error of the first plugin that refuses.
    pub(crate) async fn admit(
        self,
        write: &Write<'_>,
        options: &DeleteOptions,
        grace_period: Option<i64>,
    ) -> ApiResult<AdmittedDeletion<'s>> {
        if write.needs_admission {
            let mut sent = options.sent.clone();
            if !write.call.name().is_empty() {
                sent.grace_period_seconds = grace_period;
            }
            if self.object.resource().extensions.phased_deletion {
                // The first phase pins the object for the second one.
                let preconditions = sent.preconditions.get_or_insert_default();
                let uid = &self.object.meta().uid;
                preconditions.uid.get_or_insert_with(|| uid.clone());
            }
            // A request for a collection names no object, as in kube-apiserver.
            write.admit_removal(write.call.name(), &*self.object, &sent).await?;
        }
        Ok(self.without_admission())
    }

    /// The same deletion, which no plugin needs to accept.
    pub(crate) fn without_admission(self) -> AdmittedDeletion<'s> {
        AdmittedDeletion(self)
    }
}

impl AdmittedDeletion<'_> {
    /// The key of the object in the store.
    pub(crate) fn key(&self) -> &str {
        self.0.key
    }

    /// The state that the request has met.
    pub(crate) fn entry(&self) -> &Arc<Entry> {
        &self.0.entry
    }

    /// The object.
    pub(crate) fn object(&self) -> &dyn Object {
        &*self.0.object
    }

    /// The object, to be marked as terminating.
    pub(crate) fn object_mut(&mut self) -> &mut dyn Object {
        &mut *self.0.object
    }

    /// The result of a dry run.
    pub(crate) fn into_dry_run(self) -> Committed {
        let Deletion { entry, object, .. } = self.0;
        let size = entry.size();
        Committed::Unstored { object, size }
    }
}
