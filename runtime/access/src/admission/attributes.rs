//! What is to be admitted.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use planesmith_machinery::group_version::GroupResource;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::value::Struct;

use super::Operation;
use crate::user::UserInfo;

/// What is to be admitted, without the objects.
#[derive(Clone, Copy)]
pub struct Attributes<'a> {
    /// What is done.
    pub operation: Operation,
    /// The kind in the version of the request; the objects are of its storage version. For a subresource the kind that it
    /// belongs to: the objects may be of another one then, such as the Binding of a pod.
    pub resource: &'static ResourceFacts,
    /// Subresource; may be empty.
    pub subresource: &'a str,
    /// Namespace; empty for objects that live in none. A namespace lives in itself.
    pub namespace: &'a str,
    /// Name of the object; empty for a create while the name is still to be generated.
    pub name: &'a str,
    /// Who asks.
    pub user: &'a UserInfo,
    /// Whether nothing will be stored; a plugin with effects elsewhere leaves them out.
    pub dry_run: bool,
    /// The parameters of the request, such as a `CreateOptions`, `PatchOptions` or `DeleteOptions`; `None` when there are
    /// none, as for a connection.
    pub options: Option<&'a dyn Struct>,
    /// The parameters of a connection, such as a `PodExecOptions`.
    pub connection: Option<&'a dyn Struct>,
    /// Takes words of warning for the client.
    pub warn: &'a (dyn Fn(String) + Sync),
    /// Takes what the audit record of the request shall say: a key such as `pod-security.kubernetes.io/enforce-policy`,
    /// and its value; `None` when there is no such record.
    pub annotate: Option<Annotate<'a>>,
    /// Where a plugin asks for a second round; `None` outside a chain.
    pub reinvocation: Option<&'a Reinvocation>,
}

/// Takes a key and a value for the audit record.
pub type Annotate<'a> = &'a (dyn Fn(&str, String) + Sync);

impl<'a> Attributes<'a> {
    /// A request for the kind itself in no namespace, of which nothing is heard: nobody takes warnings and annotations.
    #[must_use]
    pub fn new(operation: Operation, resource: &'static ResourceFacts, user: &'a UserInfo) -> Self {
        Self {
            operation,
            resource,
            subresource: "",
            namespace: "",
            name: "",
            user,
            dry_run: false,
            options: None,
            connection: None,
            warn: &|_| {},
            annotate: None,
            reinvocation: None,
        }
    }

    /// Whether the request is about `resource` of `group`, in whatever version.
    #[must_use]
    pub fn is_for(&self, group: &str, resource: &str) -> bool {
        self.resource.group == group && self.resource.plural == resource
    }

    /// Whether the plugins are asked for the second time, because something changed the object after they had seen it.
    #[must_use]
    pub fn is_second_round(&self) -> bool {
        self.reinvocation
            .is_some_and(|reinvocation| reinvocation.second.load(Ordering::Relaxed))
    }

    /// Lets all mutating plugins have a second look, because this one changed the object in a way that they may want to
    /// react to. There is no third look.
    pub fn reinvoke(&self) {
        if let Some(reinvocation) = self.reinvocation {
            reinvocation.wanted.store(true, Ordering::Relaxed);
        }
    }

    /// 403 for this write, named as clients expect it: by the name of the request, else by the object's name or the start
    /// of its generated one.
    #[must_use]
    pub fn forbidden(&self, new: Option<&dyn Object>, why: impl fmt::Display) -> ApiError {
        ApiError::forbidden(&self.resource.group_resource(), self.shown_name(new), why)
    }

    /// As [`Attributes::forbidden`], for several reasons: one as it is, more in brackets, equal ones once.
    ///
    /// # Errors
    ///
    /// When there is any reason.
    pub fn forbid_all(&self, new: Option<&dyn Object>, reasons: &[String]) -> ApiResult<()> {
        let mut seen = BTreeSet::new();
        let reasons: Vec<&str> = reasons
            .iter()
            .map(String::as_str)
            .filter(|reason| seen.insert(*reason))
            .collect();
        match reasons.as_slice() {
            [] => Ok(()),
            [only] => Err(self.forbidden(new, only)),
            several => Err(self.forbidden(new, format_args!("[{}]", several.join(", ")))),
        }
    }

    /// The resource of the request.
    #[must_use]
    pub fn group_resource(&self) -> GroupResource {
        self.resource.group_resource()
    }

    fn shown_name<'n>(&'n self, new: Option<&'n dyn Object>) -> &'n str {
        let meta = new.map(Object::meta);
        let candidates = [
            self.name,
            meta.map_or("", |meta| meta.name.as_str()),
            meta.map_or("", |meta| meta.generate_name.as_str()),
        ];
        candidates
            .into_iter()
            .find(|name| !name.is_empty())
            .unwrap_or("Unknown")
    }
}

/// Whether the mutating plugins are asked again.
#[derive(Debug, Default)]
pub struct Reinvocation {
    wanted: AtomicBool,
    second: AtomicBool,
}

impl Reinvocation {
    /// Begins the second round, if a plugin wants one.
    pub(super) fn begin_second(&self) -> bool {
        let wanted = self.wanted.load(Ordering::Relaxed);
        self.second.store(wanted, Ordering::Relaxed);
        wanted
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
