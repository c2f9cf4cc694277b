//! API objects: what every kind has, seen without knowing the kind.

use std::any::Any;

use super::ResourceFacts;
use super::rules::Rules;
use crate::meta::ObjectMeta;
use crate::value::{Shape, Struct};

/// An object of some kind, behind a pointer.
pub trait Object: Struct {
    /// Facts about the kind in this version.
    fn resource(&self) -> &'static ResourceFacts;
    /// The metadata.
    fn meta(&self) -> &ObjectMeta;
    /// The metadata, to be written.
    fn meta_mut(&mut self) -> &mut ObjectMeta;
    /// A copy.
    fn boxed(&self) -> Box<dyn Object>;
}

impl dyn Object {
    /// The object as the type `R`; `None` when it is of another kind or version.
    #[must_use]
    pub fn downcast_ref<R: Resource>(&self) -> Option<&R> {
        (self as &dyn Any).downcast_ref()
    }

    /// The object as the type `R`, to be written.
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
pub trait Resource: Object + Rules + Shape + Clone + Default {
    /// Facts about the kind in this version.
    const RESOURCE: &'static ResourceFacts;
}
