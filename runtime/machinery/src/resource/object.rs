//! API objects of any kind: the interface that all kinds share.

use std::any::Any;
use std::fmt;

use super::ResourceFacts;
use super::strategy::Strategy;
use crate::meta::ObjectMeta;
use crate::value::{Shape, Struct};

/// An object of any kind; used as `dyn Object`.
pub trait Object: Struct {
    /// Returns the facts about the kind in this version.
    fn resource(&self) -> &ResourceFacts;
    /// Returns the metadata.
    fn meta(&self) -> &ObjectMeta;
    /// Returns the metadata for modification.
    fn meta_mut(&mut self) -> &mut ObjectMeta;
    /// Returns a copy.
    fn boxed(&self) -> Box<dyn Object>;
}

impl fmt::Debug for dyn Object {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields: &dyn Struct = self;
        fields.fmt(formatter)
    }
}

impl dyn Object {
    /// Returns the object as the type `R`; `None` if it is of another kind or version.
    #[must_use]
    pub fn downcast_ref<R: Resource>(&self) -> Option<&R> {
        (self as &dyn Any).downcast_ref()
    }

    /// Returns the object as the type `R` for modification; `None` if it is of another kind or version.
    pub fn downcast_mut<R: Resource>(&mut self) -> Option<&mut R> {
        (self as &mut dyn Any).downcast_mut()
    }
}

impl Clone for Box<dyn Object> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

/// A kind in one version: a struct with `#[derive(Resource)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a Kubernetes resource",
    label = "this type is not served under a group, version and kind",
    note = "add `#[derive(Resource)]` and `#[resource(group = \"...\", version = \"...\", kind = \"...\")]` to it"
)]
pub trait Resource: Object + Strategy + Shape + Clone + Default {
    /// Facts about the kind in this version.
    const RESOURCE: &'static ResourceFacts;
}
