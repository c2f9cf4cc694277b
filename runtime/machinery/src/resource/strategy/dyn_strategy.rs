//! Strategies without the types of their objects.

use std::fmt;
use std::marker::PhantomData;

use super::{Context, Strategy};
use crate::field_error::FieldErrors;
use crate::resource::object::{Object, Resource};

/// The [`Strategy`] of one kind, for code that is generic over kinds.
///
/// Each function expects an object of the kind and ignores any other.
pub trait DynStrategy: Send + Sync {
    /// See [`Strategy::set_defaults`].
    fn set_defaults(&self, object: &mut dyn Object) {
        let _ = object;
    }

    /// See [`Strategy::prepare_for_create`].
    fn prepare_for_create(&self, object: &mut dyn Object, context: &Context<'_>) {
        let _ = (object, context);
    }

    /// See [`Strategy::prepare_for_update`].
    fn prepare_for_update(&self, new: &mut dyn Object, context: &Context<'_>, old: &dyn Object) {
        let _ = (new, context, old);
    }

    /// See [`Strategy::prepare_for_status_update`].
    fn prepare_for_status_update(&self, new: &mut dyn Object, context: &Context<'_>, old: &dyn Object) {
        let _ = (new, context, old);
    }

    /// See [`Strategy::validate`].
    fn validate(&self, object: &dyn Object, errors: &mut FieldErrors) {
        let _ = (object, errors);
    }

    /// See [`Strategy::validate_update`].
    fn validate_update(&self, new: &dyn Object, old: &dyn Object, errors: &mut FieldErrors) {
        let _ = (new, old, errors);
    }

    /// See [`Strategy::validate_status_update`].
    fn validate_status_update(&self, new: &dyn Object, old: &dyn Object, errors: &mut FieldErrors) {
        let _ = (new, old, errors);
    }

    /// See [`Strategy::warnings_on_create`].
    fn warnings_on_create(&self, object: &dyn Object) -> Vec<String> {
        let _ = object;
        Vec::new()
    }

    /// See [`Strategy::warnings_on_update`].
    fn warnings_on_update(&self, new: &dyn Object, old: &dyn Object) -> Vec<String> {
        let _ = (new, old);
        Vec::new()
    }

    /// See [`Strategy::warnings_on_status_update`].
    fn warnings_on_status_update(&self, new: &dyn Object, old: &dyn Object) -> Vec<String> {
        let _ = (new, old);
        Vec::new()
    }
}

impl fmt::Debug for dyn DynStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DynStrategy")
    }
}

/// The strategy of kinds without one of their own.
#[derive(Clone, Copy, Debug)]
pub struct NoStrategy;

impl DynStrategy for NoStrategy {}

/// The strategy, and the extensions, that the type `R` implements.
#[derive(Clone, Copy, Debug)]
pub struct Typed<R>(PhantomData<fn() -> R>);

impl<R> Typed<R> {
    /// The strategy of `R`.
    pub const NEW: Self = Self(PhantomData);
}

impl<R: Resource> DynStrategy for Typed<R> {
    fn set_defaults(&self, object: &mut dyn Object) {
        if let Some(object) = object.downcast_mut::<R>() {
            Strategy::set_defaults(object);
        }
    }

    fn prepare_for_create(&self, object: &mut dyn Object, context: &Context<'_>) {
        if let Some(object) = object.downcast_mut::<R>() {
            Strategy::prepare_for_create(object, context);
        }
    }

    fn prepare_for_update(&self, new: &mut dyn Object, context: &Context<'_>, old: &dyn Object) {
        if let (Some(new), Some(old)) = (new.downcast_mut::<R>(), old.downcast_ref::<R>()) {
            Strategy::prepare_for_update(new, context, old);
        }
    }

    fn prepare_for_status_update(&self, new: &mut dyn Object, context: &Context<'_>, old: &dyn Object) {
        if let (Some(new), Some(old)) = (new.downcast_mut::<R>(), old.downcast_ref::<R>()) {
            Strategy::prepare_for_status_update(new, context, old);
        }
    }

    fn validate(&self, object: &dyn Object, errors: &mut FieldErrors) {
        if let Some(object) = object.downcast_ref::<R>() {
            Strategy::validate(object, errors);
        }
    }

    fn validate_update(&self, new: &dyn Object, old: &dyn Object, errors: &mut FieldErrors) {
        if let (Some(new), Some(old)) = (new.downcast_ref::<R>(), old.downcast_ref::<R>()) {
            Strategy::validate_update(new, old, errors);
        }
    }

    fn validate_status_update(&self, new: &dyn Object, old: &dyn Object, errors: &mut FieldErrors) {
        if let (Some(new), Some(old)) = (new.downcast_ref::<R>(), old.downcast_ref::<R>()) {
            Strategy::validate_status_update(new, old, errors);
        }
    }

    fn warnings_on_create(&self, object: &dyn Object) -> Vec<String> {
        let object = object.downcast_ref::<R>();
        object.map_or_else(Vec::new, Strategy::warnings_on_create)
    }

    fn warnings_on_update(&self, new: &dyn Object, old: &dyn Object) -> Vec<String> {
        match (new.downcast_ref::<R>(), old.downcast_ref::<R>()) {
            (Some(new), Some(old)) => Strategy::warnings_on_update(new, old),
            _ => Vec::new(),
        }
    }

    fn warnings_on_status_update(&self, new: &dyn Object, old: &dyn Object) -> Vec<String> {
        match (new.downcast_ref::<R>(), old.downcast_ref::<R>()) {
            (Some(new), Some(old)) => Strategy::warnings_on_status_update(new, old),
            _ => Vec::new(),
        }
    }
}
