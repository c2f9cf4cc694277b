//! What plugins see of objects other than the one that is written.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use planesmith_machinery::go_format::{quote, slice};
use planesmith_machinery::names;
use planesmith_machinery::object::{Object, Resource};
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::{ApiError, ApiResult};

/// Reads the newest state of objects, in their storage version.
///
/// Reading is cheap: it comes from memory, and what was read lately is kept decoded. Kinds that the server does not have
/// have no objects.
pub trait Lister: Send + Sync {
    /// The object; `None` when there is none. `namespace` is empty for a kind that lives in none.
    ///
    /// # Errors
    ///
    /// 500 when the stored object cannot be read.
    fn get(&self, kind: &'static ResourceFacts, namespace: &str, name: &str) -> ApiResult<Option<Arc<dyn Object>>>;

    /// All objects of a kind in a namespace, or in all when `namespace` is empty, in the order of their names.
    ///
    /// # Errors
    ///
    /// 500 when a stored object cannot be read.
    fn list(&self, kind: &'static ResourceFacts, namespace: &str) -> ApiResult<Vec<Arc<dyn Object>>>;
}

impl fmt::Debug for dyn Lister + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lister").finish_non_exhaustive()
    }
}

impl dyn Lister + '_ {
    /// As [`Lister::get`], for the kind `R`, which is a storage version.
    ///
    /// # Errors
    ///
    /// As [`Lister::get`].
    pub fn find<R: Resource>(&self, namespace: &str, name: &str) -> ApiResult<Option<Arc<R>>> {
        Ok(self.get(R::RESOURCE, namespace, name)?.and_then(typed))
    }

    /// As `find`, for what kube-apiserver asks itself over the network when its caches do not have it: a name that
    /// cannot stand in a path is refused on the way.
    ///
    /// # Errors
    ///
    /// 500 for such a name, and as [`Lister::get`].
    pub fn fetch<R: Resource>(&self, namespace: &str, name: &str) -> ApiResult<Option<Arc<R>>> {
        let complaints = names::path_segment(name);
        if !complaints.is_empty() {
            let why = format!("invalid resource name {}: {}", quote(name), slice(&complaints));
            return Err(ApiError::unnamed(500, why));
        }
        self.find(namespace, name)
    }

    /// As [`Lister::list`], for the kind `R`, which is a storage version.
    ///
    /// # Errors
    ///
    /// As [`Lister::list`].
    pub fn all<R: Resource>(&self, namespace: &str) -> ApiResult<Vec<Arc<R>>> {
        Ok(self
            .list(R::RESOURCE, namespace)?
            .into_iter()
            .filter_map(typed)
            .collect())
    }
}

fn typed<R: Resource>(object: Arc<dyn Object>) -> Option<Arc<R>> {
    let object: Arc<dyn Any + Send + Sync> = object;
    object.downcast().ok()
}
