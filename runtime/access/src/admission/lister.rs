//! Read access of plugins to other objects.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use planesmith_machinery::go_format::{quote, slice};
use planesmith_machinery::names;
use planesmith_machinery::object::{Object, Resource};
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::{ApiError, ApiResult};

/// Reads the latest state of objects, in their storage version.
///
/// Reads are cheap: they are served from memory, and recently read objects are cached in decoded form. Kinds unknown to the
/// server have no objects.
pub trait Lister: Send + Sync {
    /// Returns an object, or `None` if it does not exist. `namespace` is empty for cluster-scoped kinds.
    ///
    /// # Errors
    ///
    /// 500 if the stored object cannot be decoded.
    fn get(&self, kind: &ResourceFacts, namespace: &str, name: &str) -> ApiResult<Option<Arc<dyn Object>>>;

    /// Returns all objects of a kind in a namespace, or in all namespaces if `namespace` is empty, sorted by name.
    ///
    /// # Errors
    ///
    /// 500 if a stored object cannot be decoded.
    fn list(&self, kind: &ResourceFacts, namespace: &str) -> ApiResult<Vec<Arc<dyn Object>>>;
}

impl fmt::Debug for dyn Lister + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lister").finish_non_exhaustive()
    }
}

impl dyn Lister + '_ {
    /// Like [`Lister::get`], for the kind `R` in its storage version.
    ///
    /// # Errors
    ///
    /// Those of [`Lister::get`].
    pub fn find<R: Resource>(&self, namespace: &str, name: &str) -> ApiResult<Option<Arc<R>>> {
        Ok(self.get(R::RESOURCE, namespace, name)?.and_then(typed))
    }

    /// Like `find`, for reads that kube-apiserver sends over the network on a cache miss: these fail for names that are not
    /// valid path segments.
    ///
    /// # Errors
    ///
    /// 500 for an invalid path segment, and those of [`Lister::get`].
    pub fn fetch<R: Resource>(&self, namespace: &str, name: &str) -> ApiResult<Option<Arc<R>>> {
        let complaints = names::path_segment(name);
        if !complaints.is_empty() {
            let why = format!("invalid resource name {}: {}", quote(name), slice(&complaints));
            return Err(ApiError::unnamed(500, why));
        }
        self.find(namespace, name)
    }

    /// Like [`Lister::list`], for the kind `R` in its storage version.
    ///
    /// # Errors
    ///
    /// Those of [`Lister::list`].
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
