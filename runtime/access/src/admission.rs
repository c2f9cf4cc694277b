//! The interface of admission plugins, which change or refuse writes.
//!
//! All mutating plugins run before any validating one, each in the order of the [`Chain`], so that the validated object is the
//! stored object.

mod attributes;
mod chain;
mod lister;
mod namespace_lifecycle;
mod observer;

use std::pin::Pin;

use planesmith_machinery::object::{Object, Resource};
use planesmith_machinery::status::ApiResult;

pub use attributes::{Attributes, ConnectOptions, Reinvocation};
pub use chain::Chain;
pub use lister::Lister;
pub use namespace_lifecycle::{NamespaceLifecycle, NamespacePhase, Namespaces};
pub use observer::{Observer, PluginCall};

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Creates an object.
    Create,
    /// Updates an object.
    Update,
    /// Deletes an object, or starts its graceful deletion.
    Delete,
    /// Opens a connection to a subresource such as `exec`.
    Connect,
}

impl Operation {
    /// Returns the operation in the form used by webhooks and policies.
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

/// The phase of admission in which a plugin is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Plugins can change the object.
    Mutating,
    /// The object is final; plugins can only refuse the write.
    Validating,
}

/// The objects of a request.
#[derive(Debug)]
pub struct Objects<'a> {
    /// The new object; `None` for a delete and for a connection.
    pub new: Option<&'a mut dyn Object>,
    /// The stored object; `None` for a create.
    pub old: Option<&'a dyn Object>,
}

impl Objects<'_> {
    /// Returns the new object if it is an `R`.
    #[must_use]
    pub fn new_as<R: Resource>(&self) -> Option<&R> {
        self.new.as_deref()?.downcast_ref()
    }

    /// Returns the new object for modification if it is an `R`.
    pub fn new_as_mut<R: Resource>(&mut self) -> Option<&mut R> {
        self.new.as_deref_mut()?.downcast_mut()
    }

    /// Returns the stored object if it is an `R`.
    #[must_use]
    pub fn old_as<R: Resource>(&self) -> Option<&R> {
        self.old?.downcast_ref()
    }
}

/// The future of a plugin's decision.
pub type AdmissionFuture<'a> = Pin<Box<dyn Future<Output = ApiResult<()>> + Send + 'a>>;

/// An admission plugin, which changes writes, and allows or refuses them.
///
/// Plugins receive objects of the storage version with defaults applied. Mutating plugins run before the kind's own preparation
/// and validation, validating plugins afterwards, when the object has its final form and name. A write that is retried after a
/// conflict runs the plugins again, so their effects must be idempotent.
///
/// To refuse a write, return [`Attributes::forbidden`]; any other API error reaches the client unchanged.
///
/// # Example
///
/// A plugin that refuses unpaid orders and records the creator in an annotation:
///
/// ```
/// use planesmith_access::admission::{Attributes, Objects, Operation, Phase, Plugin, AdmissionFuture, decided};
/// use planesmith_machinery::{Resource, meta::ObjectMeta};
///
/// /// An order.
/// #[derive(Clone, Debug, Default, PartialEq, Resource)]
/// #[resource(group = "shop.example.com", version = "v1", kind = "Order")]
/// struct Order {
///     /// Metadata.
///     #[field(proto = 1)]
///     metadata: ObjectMeta,
/// ///     /// True if the order is paid.
///     #[field(proto = 2)]
///     paid: bool,
/// }
///
/// struct PaidOrders;
///
/// impl Plugin for PaidOrders {
///     fn name(&self) -> &'static str {
///         "PaidOrders"
///     }
///
///     fn handles(&self, operation: Operation, _: Phase) -> bool {
///         operation == Operation::Create
///     }
///
///     fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
///         if let Some(order) = objects.new_as_mut::<Order>() {
///             let annotations = &mut order.metadata.annotations;
///             annotations.insert("shop.example.com/ordered-by".to_owned(), attributes.user.name.clone());
///         }
///         decided(Ok(()))
///     }
///
///     fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
///         let unpaid = objects.new_as::<Order>().is_some_and(|order| !order.paid);
///         let verdict = match unpaid {
///             true => Err(attributes.forbidden(objects.new.as_deref(), "pay first")),
///             false => Ok(()),
///         };
///         decided(verdict)
///     }
/// }
/// ```
pub trait Plugin: Send + Sync {
    /// The plugin name in flags and logs, e.g. `NamespaceLifecycle`.
    fn name(&self) -> &'static str;

    /// True if the plugin handles `operation` in `phase`. The result must be constant.
    fn handles(&self, operation: Operation, phase: Phase) -> bool;

    /// Inspects a write, and can change `objects.new`.
    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        let _ = (attributes, objects);
        decided(Ok(()))
    }

    /// Validates a write in its final form.
    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        let _ = (attributes, objects);
        decided(Ok(()))
    }
}

/// Wraps a decision that is available immediately.
#[must_use]
pub fn decided<'a>(answer: ApiResult<()>) -> AdmissionFuture<'a> {
    Box::pin(std::future::ready(answer))
}
