//! The attributes of an admission request.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use planesmith_machinery::go_format;
use planesmith_machinery::group_version::GroupResource;
use planesmith_machinery::meta::ManagedFieldsEntry;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scale::v1::Scale;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::value::Struct;

use super::Operation;
use crate::audit::Annotations;
use crate::user::UserInfo;

/// The attributes of an admission request, without the objects.
#[derive(Clone, Copy)]
pub struct Attributes<'a> {
    /// The operation of the request.
    pub operation: Operation,
    /// The resource in the version of the request; the objects have its storage version. For a subresource, the parent
    /// resource: the objects may then be of another kind, such as the Binding of a pod.
    pub resource: &'a ResourceFacts,
    /// The subresource; empty for the resource itself.
    pub subresource: &'a str,
    /// The namespace; empty for cluster-scoped objects. A Namespace object is in its own namespace.
    pub namespace: &'a str,
    /// The object name; empty for a create whose name is not generated yet.
    pub name: &'a str,
    /// The user who sent the request.
    pub user: &'a UserInfo,
    /// True if nothing will be stored; plugins must skip external side effects.
    pub dry_run: bool,
    /// The options of the request, such as a `CreateOptions`, `PatchOptions` or `DeleteOptions`; `None` if there are none, as
    /// for a connection.
    pub options: Option<&'a dyn Struct>,
    /// The options of a connection, such as a `PodExecOptions`; `None` for other operations.
    pub connection: Option<&'a ConnectOptions>,
    /// The Scale that replaces the one of the object, as it was sent; `None` for requests that do not change a Scale, and for
    /// plugins that see what will be stored.
    pub scale: Option<&'a Scale>,
    /// The time at which the client stops waiting; `None` if it waits without limit.
    pub deadline: Option<Instant>,
    /// Adds a warning to the response.
    pub warn: &'a (dyn Fn(String) + Sync),
    /// The annotations of the audit event, with keys such as `pod-security.kubernetes.io/enforce-policy`.
    pub annotations: &'a Annotations,
    /// Requests a second round of mutating plugins; `None` outside a chain.
    pub reinvocation: Option<&'a Reinvocation>,
    /// The managed fields of the new object before other programs changed it; `None` if nobody restores them. See
    /// [`Attributes::keep_managers`].
    pub managers: Option<&'a OnceLock<Vec<ManagedFieldsEntry>>>,
}

impl<'a> Attributes<'a> {
    /// Creates attributes for a cluster-wide request on the resource itself, which discard warnings and annotations.
    #[must_use]
    pub fn new(operation: Operation, resource: &'a ResourceFacts, user: &'a UserInfo) -> Self {
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
            scale: None,
            deadline: None,
            warn: &|_| {},
            annotations: &Annotations::OFF,
            reinvocation: None,
            managers: None,
        }
    }

    /// True if the request is for `resource` of `group`, in any version.
    #[must_use]
    pub fn is_for(&self, group: &str, resource: &str) -> bool {
        self.resource.group == group && self.resource.plural == resource
    }

    /// True if this is the second call of the plugins, because another plugin changed the object after they ran.
    #[must_use]
    pub fn is_second_round(&self) -> bool {
        self.reinvocation
            .is_some_and(|reinvocation| reinvocation.second.load(Ordering::Relaxed))
    }

    /// Calls `use_state` with the state of type `T` that plugins keep over both rounds of one request; it begins with the default.
    /// Outside a chain nothing is kept.
    pub fn with_state<T, R>(&self, use_state: impl FnOnce(&mut T) -> R) -> R
    where
        T: Any + Default + Send,
    {
        match self.reinvocation {
            Some(reinvocation) => reinvocation.with_state(use_state),
            None => use_state(&mut T::default()),
        }
    }

    /// Requests a second round of all mutating plugins, because this plugin changed the object in a way that affects others.
    /// There is no third round.
    pub fn reinvoke(&self) {
        if let Some(reinvocation) = self.reinvocation {
            reinvocation.wanted.store(true, Ordering::Relaxed);
        }
    }

    /// Keeps the managed fields of the new object. A plugin that lets other programs change the object calls this before a change:
    /// if the managed fields cannot be read after all plugins, the server restores those of the first call.
    pub fn keep_managers(&self, new: &dyn Object) {
        if let Some(managers) = self.managers {
            managers.get_or_init(|| new.meta().managed_fields.clone());
        }
    }

    /// Returns error 403 for this write. It names the object by the request's name, else by the object's name or
    /// `generateName`.
    #[must_use]
    pub fn forbidden(&self, new: Option<&dyn Object>, why: impl fmt::Display) -> ApiError {
        ApiError::forbidden(&self.resource.group_resource(), self.rendered_name(new), why)
    }

    /// Like [`Attributes::forbidden`], for several reasons: a single one as it is, several in brackets without duplicates.
    ///
    /// # Errors
    ///
    /// Returns the error if there is any reason.
    pub fn forbid_all(&self, new: Option<&dyn Object>, reasons: &[String]) -> ApiResult<()> {
        match reasons.is_empty() {
            true => Ok(()),
            false => Err(self.forbidden(new, go_format::aggregate(reasons))),
        }
    }

    /// Returns the resource of the request.
    #[must_use]
    pub fn group_resource(&self) -> GroupResource {
        self.resource.group_resource()
    }

    fn rendered_name<'n>(&'n self, new: Option<&'n dyn Object>) -> &'n str {
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

/// The options of a connection, such as a `PodExecOptions`, which mutating plugins can change.
pub struct ConnectOptions(Mutex<Box<dyn Struct>>);

impl ConnectOptions {
    /// Returns the options that a client sent.
    #[must_use]
    pub fn new(options: impl Struct) -> Self {
        Self(Mutex::new(Box::new(options)))
    }

    /// Calls `read` with the options.
    pub fn read<R>(&self, read: impl FnOnce(&dyn Struct) -> R) -> R {
        read(&**self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls `change` with the options.
    pub fn change<R>(&self, change: impl FnOnce(&mut dyn Struct) -> R) -> R {
        change(&mut **self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the options if they are of the type `O`.
    #[must_use]
    pub fn into_inner<O: Struct>(self) -> Option<O> {
        let options: Box<dyn Any> = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        options.downcast().ok().map(|options| *options)
    }
}

impl fmt::Debug for ConnectOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ConnectOptions").finish_non_exhaustive()
    }
}

/// Records a request for a second round of the mutating plugins.
#[derive(Debug, Default)]
pub struct Reinvocation {
    wanted: AtomicBool,
    second: AtomicBool,
    /// The states of plugins over both rounds, one value of each type.
    states: Mutex<Vec<Box<dyn Any + Send>>>,
}

impl Reinvocation {
    /// Starts the second round if a plugin requested one.
    pub(super) fn begin_second(&self) -> bool {
        let wanted = self.wanted.load(Ordering::Relaxed);
        self.second.store(wanted, Ordering::Relaxed);
        wanted
    }

    fn with_state<T: Any + Default + Send, R>(&self, use_state: impl FnOnce(&mut T) -> R) -> R {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = states.iter_mut().find_map(|state| state.downcast_mut()) {
            return use_state(state);
        }
        let mut state = T::default();
        let result = use_state(&mut state);
        states.push(Box::new(state));
        result
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
