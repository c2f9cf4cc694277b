//! The strategy of a kind: behaviour that cannot be declared.

mod dyn_strategy;
mod extension_hooks;
mod extensions;
pub mod update_order;

use std::collections::BTreeMap;

pub use dyn_strategy::{DynStrategy, NoStrategy, Typed};
pub use extension_hooks::{ExtensionHooks, NoExtensions};
pub use extensions::{Dependents, Extensions, MetadataRules, StrategyExtensions};
pub use update_order::UpdateStep;

use crate::feature::Features;
use crate::field_error::{FieldErrors, SentEmpty};
use crate::time::Time;

/// The strategy of a kind: its behaviour beyond the declarations. Every function has an empty default.
///
/// A write runs defaulting, preparation, validation and warnings in this order. The derive implements this trait unless
/// `#[resource(..., strategy)]` declares a manual implementation.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no strategy",
    note = "write `impl Strategy for {Self} {{}}`, or remove `strategy` from `#[resource(...)]`"
)]
pub trait Strategy: Sized {
    /// Sets defaults that depend on other fields; declared defaults are already set.
    fn set_defaults(&mut self) {}

    /// Resets fields that a creator cannot set. `status` is already cleared if the kind has a status subresource.
    fn prepare_for_create(&mut self, context: &Context<'_>) {
        let _ = context;
    }

    /// Restores from `old` the fields that an update cannot change. `status` is already restored if the kind has a
    /// status subresource.
    fn prepare_for_update(&mut self, context: &Context<'_>, old: &Self) {
        let _ = (context, old);
    }

    /// Adjusts a write to `/status`; everything but `status` is already restored from `old`.
    fn prepare_for_status_update(&mut self, context: &Context<'_>, old: &Self) {
        let _ = (context, old);
    }

    /// Reports errors of the object; generic code checks metadata and declared rules.
    fn validate(&self, errors: &mut FieldErrors) {
        let _ = errors;
    }

    /// Reports forbidden changes from `old`. The new object itself is checked by [`Strategy::validate`], unless
    /// [`StrategyExtensions::UPDATE_ORDER`] leaves that out: then this function checks it, too.
    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        let _ = (old, errors);
    }

    /// Reports errors of a write to `/status`.
    fn validate_status_update(&self, old: &Self, errors: &mut FieldErrors) {
        let _ = (old, errors);
    }

    /// Returns warnings about an accepted new object.
    fn warnings_on_create(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns warnings about an accepted replacement of `old`; by default those of a new object.
    fn warnings_on_update(&self, old: &Self) -> Vec<String> {
        let _ = old;
        self.warnings_on_create()
    }

    /// Returns warnings about an accepted write to `/status`.
    fn warnings_on_status_update(&self, old: &Self) -> Vec<String> {
        let _ = old;
        Vec::new()
    }
}

/// The request for which an object is prepared and validated. The default is a request without a user to a server with the
/// default features, at the start of 1970.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The authenticated user; `None` if the server itself writes.
    pub user: Option<User<'a>>,
    /// The features of the server.
    pub features: &'a Features,
    /// The time of the request, by the clock of the server.
    pub now: Time,
    /// Empty values in the body of the request.
    pub sent_empty: &'a SentEmpty,
}

impl Default for Context<'_> {
    fn default() -> Self {
        Self {
            user: None,
            features: Features::defaults(),
            now: Time::from_second(0),
            sent_empty: SentEmpty::nothing(),
        }
    }
}

/// The authenticated user of a request.
#[derive(Clone, Copy, Debug)]
pub struct User<'a> {
    /// Name of the user.
    pub name: &'a str,
    /// Identity that is unique even if a name is reused; may be empty.
    pub uid: &'a str,
    /// Groups of the user.
    pub groups: &'a [String],
    /// Further attributes of the user.
    pub extra: &'a BTreeMap<String, Vec<String>>,
}
