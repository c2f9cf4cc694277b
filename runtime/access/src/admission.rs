//! What plugins may change about a write, and whether they let it through.
//!
//! All mutating plugins run before any validating one, each kind in the order of the [`Chain`], so that what is validated
//! is what is stored.

mod chain;
mod namespace_lifecycle;

use std::fmt;
use std::pin::Pin;

use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::{ApiError, ApiResult};

use crate::user::UserInfo;

pub use chain::Chain;
pub use namespace_lifecycle::{NamespaceLifecycle, NamespacePhase, Namespaces};

/// What a write does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A new object.
    Create,
    /// A new state of an object.
    Update,
    /// The removal of an object, or the start of it.
    Delete,
    /// A stream to what an object stands for.
    Connect,
}

impl Operation {
    /// The operation as webhooks and policies write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Operation::Create => "CREATE",
            Operation::Update => "UPDATE",
            Operation::Delete => "DELETE",
            Operation::Connect => "CONNECT",
        }
    }
}

/// In which half of admission a plugin is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The object may still be changed.
    Mutating,
    /// The object is final.
    Validating,
}

/// What is to be admitted, without the objects.
#[derive(Clone, Copy)]
pub struct Attributes<'a> {
    /// What is done.
    pub operation: Operation,
    /// The kind in the version of the request; the objects are of its storage version.
    pub resource: &'static ResourceFacts,
    /// Subresource; may be empty.
    pub subresource: &'a str,
    /// Namespace; empty for objects that live in none.
    pub namespace: &'a str,
    /// Name in the path; empty for a create.
    pub name: &'a str,
    /// Who asks.
    pub user: &'a UserInfo,
    /// Whether nothing will be stored; a plugin with effects elsewhere leaves them out.
    pub dry_run: bool,
    /// Takes words of warning for the client.
    pub warn: &'a (dyn Fn(String) + Sync),
}

/// The objects of a write.
#[derive(Debug)]
pub struct Objects<'a> {
    /// The new object; `None` for a delete.
    pub new: Option<&'a mut dyn Object>,
    /// The object as it is; `None` for a create.
    pub old: Option<&'a dyn Object>,
}

/// A plugin's answer, later.
pub type Verdict<'a> = Pin<Box<dyn Future<Output = ApiResult<()>> + Send + 'a>>;

/// Changes writes, or lets them through or not.
///
/// Plugins see objects of the storage version. They are asked again when a write is repeated because the object changed
/// in between, so what they do must not depend on being asked once.
pub trait Plugin: Send + Sync {
    /// The name that flags and logs use, e.g. `NamespaceLifecycle`.
    fn name(&self) -> &'static str;

    /// Whether the plugin is asked about `operation` in `phase`; must always answer the same.
    fn handles(&self, operation: Operation, phase: Phase) -> bool;

    /// Looks at a write and changes `objects.new` if it wants to.
    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> Verdict<'a> {
        let _ = (attributes, objects);
        Box::pin(std::future::ready(Ok(())))
    }

    /// Looks at a write in its final form.
    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> Verdict<'a> {
        let _ = (attributes, objects);
        Box::pin(std::future::ready(Ok(())))
    }
}

impl Attributes<'_> {
    /// 403 for this write, named as clients expect it: by the name in the path, else by the object's name or the start of
    /// its generated one.
    #[must_use]
    pub fn forbidden(&self, new: Option<&dyn Object>, why: impl fmt::Display) -> ApiError {
        let meta = new.map(Object::meta);
        let candidates = [
            self.name,
            meta.map_or("", |meta| meta.name.as_str()),
            meta.map_or("", |meta| meta.generate_name.as_str()),
        ];
        let name = candidates
            .into_iter()
            .find(|name| !name.is_empty())
            .unwrap_or("Unknown");
        ApiError::forbidden(&self.resource.group_resource(), name, why)
    }
}

impl fmt::Debug for Attributes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attributes")
            .field("operation", &self.operation)
            .field("resource", &self.resource.plural)
            .field("subresource", &self.subresource)
            .field("namespace", &self.namespace)
            .field("name", &self.name)
            .field("user", &self.user.name)
            .field("dry_run", &self.dry_run)
            .finish_non_exhaustive()
    }
}
