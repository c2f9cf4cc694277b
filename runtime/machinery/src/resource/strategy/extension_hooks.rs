//! Extensions of strategies without the types of their objects.

use std::any::Any;
use std::fmt;

use super::{StrategyExtensions, Typed};
use crate::environment::Environment;
use crate::field_error::FieldErrors;
use crate::resource::Completion;
use crate::resource::object::{Object, Resource};
use crate::value::Struct;

/// The functions of the [`StrategyExtensions`] of one kind, for code that is generic over kinds.
///
/// Unless stated otherwise, each function expects an object of the kind and ignores any other.
pub trait ExtensionHooks: Send + Sync {
    /// See [`StrategyExtensions::conversion_problem`].
    fn conversion_problem(&self, object: &dyn Struct) -> Option<String> {
        let _ = object;
        None
    }

    /// See [`StrategyExtensions::set_server_defaults`].
    fn set_server_defaults(&self, object: &mut dyn Object, environment: &Environment) {
        let _ = (object, environment);
    }

    /// See [`StrategyExtensions::prepare_bookmark`].
    fn prepare_bookmark(&self, object: &mut dyn Object) {
        let _ = object;
    }

    /// See [`StrategyExtensions::preparation_warnings`].
    fn preparation_warnings(&self, object: &dyn Object) -> Vec<String> {
        let _ = object;
        Vec::new()
    }

    /// See [`StrategyExtensions::as_managed`].
    fn as_managed(&self, object: &dyn Object) -> Option<Box<dyn Object>> {
        let _ = object;
        None
    }

    /// See [`StrategyExtensions::prepare_for_delete`].
    fn prepare_for_delete(&self, object: &mut dyn Object) {
        let _ = object;
    }

    /// See [`StrategyExtensions::deletion_problem`].
    fn deletion_problem(&self, object: &dyn Object) -> Option<&'static str> {
        let _ = object;
        None
    }

    /// See [`StrategyExtensions::blocks_deletion`].
    fn blocks_deletion(&self, object: &dyn Object) -> bool {
        let _ = object;
        false
    }

    /// See [`StrategyExtensions::grace_period`].
    fn grace_period(&self, object: &dyn Object, requested: Option<i64>) -> Option<i64> {
        let _ = (object, requested);
        None
    }

    /// See [`StrategyExtensions::completion`].
    fn completion(&self, object: &dyn Object) -> Option<Completion> {
        let _ = object;
        None
    }

    /// See [`StrategyExtensions::validate_replacement`].
    fn validate_replacement(&self, new: &dyn Object, old: &dyn Object, errors: &mut FieldErrors) {
        let _ = old;
        new.resource().strategy.validate(new, errors);
    }

    /// See [`StrategyExtensions::validate_as_sent`]; the object is of the storage version.
    fn validate_as_sent(&self, stored: &dyn Object, errors: &mut FieldErrors) {
        let _ = (stored, errors);
    }

    /// See [`StrategyExtensions::validate_update_as_sent`]; the objects are of the storage version.
    fn validate_update_as_sent(&self, new: &dyn Object, old: &dyn Object, errors: &mut FieldErrors) {
        let _ = (new, old, errors);
    }
}

impl fmt::Debug for dyn ExtensionHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExtensionHooks")
    }
}

/// The functions of kinds without extensions.
#[derive(Clone, Copy, Debug)]
pub struct NoExtensions;

impl ExtensionHooks for NoExtensions {}

impl<R: Resource + StrategyExtensions> ExtensionHooks for Typed<R> {
    fn conversion_problem(&self, object: &dyn Struct) -> Option<String> {
        StrategyExtensions::conversion_problem((object as &dyn Any).downcast_ref::<R>()?)
    }

    fn set_server_defaults(&self, object: &mut dyn Object, environment: &Environment) {
        if let Some(object) = object.downcast_mut::<R>() {
            StrategyExtensions::set_server_defaults(object, environment);
        }
    }

    fn prepare_bookmark(&self, object: &mut dyn Object) {
        if let Some(object) = object.downcast_mut::<R>() {
            StrategyExtensions::prepare_bookmark(object);
        }
    }

    fn preparation_warnings(&self, object: &dyn Object) -> Vec<String> {
        let object = object.downcast_ref::<R>();
        object.map_or_else(Vec::new, StrategyExtensions::preparation_warnings)
    }

    fn as_managed(&self, object: &dyn Object) -> Option<Box<dyn Object>> {
        let managed = StrategyExtensions::as_managed(object.downcast_ref::<R>()?)?;
        Some(Box::new(managed))
    }

    fn prepare_for_delete(&self, object: &mut dyn Object) {
        if let Some(object) = object.downcast_mut::<R>() {
            StrategyExtensions::prepare_for_delete(object);
        }
    }

    fn deletion_problem(&self, object: &dyn Object) -> Option<&'static str> {
        StrategyExtensions::deletion_problem(object.downcast_ref::<R>()?)
    }

    fn blocks_deletion(&self, object: &dyn Object) -> bool {
        let object = object.downcast_ref::<R>();
        object.is_some_and(StrategyExtensions::blocks_deletion)
    }

    fn grace_period(&self, object: &dyn Object, requested: Option<i64>) -> Option<i64> {
        StrategyExtensions::grace_period(object.downcast_ref::<R>()?, requested)
    }

    fn completion(&self, object: &dyn Object) -> Option<Completion> {
        StrategyExtensions::completion(object.downcast_ref::<R>()?)
    }

    fn validate_replacement(&self, new: &dyn Object, old: &dyn Object, errors: &mut FieldErrors) {
        if let (Some(new), Some(old)) = (new.downcast_ref::<R>(), old.downcast_ref::<R>()) {
            StrategyExtensions::validate_replacement(new, old, errors);
        }
    }

    fn validate_as_sent(&self, stored: &dyn Object, errors: &mut FieldErrors) {
        R::validate_as_sent(stored, errors);
    }

    fn validate_update_as_sent(&self, new: &dyn Object, old: &dyn Object, errors: &mut FieldErrors) {
        R::validate_update_as_sent(new, old, errors);
    }
}
