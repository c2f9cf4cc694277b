//! What plugins may change about a write, and whether they let it through.
//!
//! All mutating plugins run before any validating one, each kind in the order of the [`Chain`], so that what is validated
//! is what is stored.

mod attributes;
mod chain;
mod lister;
mod namespace_lifecycle;
mod observer;

use std::pin::Pin;

use planesmith_machinery::object::{Object, Resource};
use planesmith_machinery::status::ApiResult;

pub use attributes::{Annotate, Attributes, Reinvocation};
pub use chain::Chain;
pub use lister::Lister;
pub use namespace_lifecycle::{NamespaceLifecycle, NamespacePhase, Namespaces};
pub use observer::{Asked, Observer};

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

/// The objects of a write.
#[derive(Debug)]
pub struct Objects<'a> {
    /// The new object; `None` for a delete and for a connection.
    pub new: Option<&'a mut dyn Object>,
    /// The object as it is; `None` for a create.
    pub old: Option<&'a dyn Object>,
}

impl Objects<'_> {
    /// The new object, if it is an `R`.
    #[must_use]
    pub fn new_as<R: Resource>(&self) -> Option<&R> {
        self.new.as_deref()?.downcast_ref()
    }

    /// The new object, if it is an `R`, to be changed.
    pub fn new_as_mut<R: Resource>(&mut self) -> Option<&mut R> {
        self.new.as_deref_mut()?.downcast_mut()
    }

    /// The object as it is, if it is an `R`.
    #[must_use]
    pub fn old_as<R: Resource>(&self) -> Option<&R> {
        self.old?.downcast_ref()
    }
}

/// A plugin's answer, later.
pub type Verdict<'a> = Pin<Box<dyn Future<Output = ApiResult<()>> + Send + 'a>>;

/// Changes writes, or lets them through or not.
///
/// Plugins see objects of the storage version, defaulted. A mutating plugin is asked before the kind's own rules prepare
/// and validate the object, a validating one afterwards, when the object has its final form and name. Plugins are asked
/// again when a write is repeated because the object changed in between, so what they do must not depend on being asked
/// once.
///
/// A refusal is usually [`Attributes::forbidden`]; any other error of the API reaches the client as it is.
///
/// # Example
///
/// A plugin that lets nobody order on account, and stamps every order with who made it:
///
/// ```
/// use planesmith_access::admission::{Attributes, Objects, Operation, Phase, Plugin, Verdict, decided};
/// use planesmith_machinery::{Resource, meta::ObjectMeta};
///
/// /// An order.
/// #[derive(Clone, Debug, Default, PartialEq, Resource)]
/// #[resource(group = "shop.example.com", version = "v1", kind = "Order")]
/// struct Order {
///     /// Metadata.
///     #[field(proto = 1)]
///     metadata: ObjectMeta,
///     /// Whether it is paid for.
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
///     fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> Verdict<'a> {
///         if let Some(order) = objects.new_as_mut::<Order>() {
///             let annotations = &mut order.metadata.annotations;
///             annotations.insert("shop.example.com/ordered-by".to_owned(), attributes.user.name.clone());
///         }
///         decided(Ok(()))
///     }
///
///     fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> Verdict<'a> {
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
    /// The name that flags and logs use, e.g. `NamespaceLifecycle`.
    fn name(&self) -> &'static str;

    /// Whether the plugin is asked about `operation` in `phase`; must always answer the same.
    fn handles(&self, operation: Operation, phase: Phase) -> bool;

    /// Looks at a write and changes `objects.new` if it wants to.
    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> Verdict<'a> {
        let _ = (attributes, objects);
        decided(Ok(()))
    }

    /// Looks at a write in its final form.
    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> Verdict<'a> {
        let _ = (attributes, objects);
        decided(Ok(()))
    }
}

/// The answer of a plugin that has nothing to wait for.
#[must_use]
pub fn decided<'a>(answer: ApiResult<()>) -> Verdict<'a> {
    Box::pin(std::future::ready(answer))
}
