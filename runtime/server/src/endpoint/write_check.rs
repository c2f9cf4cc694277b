//! Checks of a kind's own that writes pass before they are validated.

use std::future::ready;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::ApiResult;

use super::Call;
use crate::stores::Stores;

/// Checks of every write of a kind, in all of its versions: of creates, updates, patches and applies. Objects are in the storage
/// version. By default both find nothing.
pub trait WriteCheck: Send + Sync {
    /// Checks the object of a write; `old` is the object that it replaces, `None` for a create. Runs after the mutating plugins and
    /// before the object is validated, as checks in the storage of kube-apiserver do.
    ///
    /// # Errors
    ///
    /// The refusal for the client.
    fn check<'a>(
        &'a self,
        _call: &'a Call,
        _new: &'a dyn Object,
        _old: Option<&'a dyn Object>,
    ) -> BoxFuture<'a, ApiResult<()>> {
        Box::pin(ready(Ok(())))
    }

    /// Returns errors in fields of the object, for rules about other objects. They come before those of the strategy of the kind,
    /// to which such rules belong in kube-apiserver.
    fn field_errors(&self, _new: &dyn Object, _old: Option<&dyn Object>) -> FieldErrors {
        FieldErrors::default()
    }
}

impl Stores {
    /// Checks all writes of `resource` of `group` with `check`. Endpoints that were created before do not have it.
    pub fn check_writes(&self, group: &str, resource: &str, check: Arc<dyn WriteCheck>) {
        self.attachments().change(group, resource, |_| check);
    }

    /// The check of writes of a kind; `None` for most kinds.
    pub(super) fn write_check(&self, facts: &ResourceFacts) -> Option<Arc<dyn WriteCheck>> {
        self.attachments().get(facts)
    }
}
