//! Behaviour of built-in kinds that a [`Strategy`] does not cover.

use super::{ExtensionHooks, NoExtensions, Strategy, Typed, UpdateStep, update_order};
use crate::environment::Environment;
use crate::field_error::FieldErrors;
use crate::resource::object::{Object, Resource};
use crate::resource::{Completion, FieldLabels};

/// Deviations of kinds of kube-apiserver from the usual behaviour; kinds of other programs rarely need one. Every item has a
/// default, which is the usual behaviour.
///
/// A kind with the key `#[resource(..., strategy_extensions)]` implements this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no strategy extensions",
    note = "write `impl StrategyExtensions for {Self} {{}}`, or remove `strategy_extensions` from `#[resource(...)]`"
)]
pub trait StrategyExtensions: Strategy {
    /// Steps of the validation of an update, in order: one of [`update_order`], or a list of the kind's own. The order
    /// of errors is visible to clients, and so are duplicates.
    const UPDATE_ORDER: &'static [UpdateStep] = Extensions::NONE.update_order;

    /// Validation of metadata, in addition to the rules for every object.
    const METADATA: MetadataRules = Extensions::NONE.metadata;

    /// Fields that selectors accept besides the selectable paths, and the wording of a rejection.
    const FIELD_LABELS: FieldLabels = Extensions::NONE.field_labels;

    /// True if the status subresource can be printed as a table. kube-apiserver lacks the table convertor for some
    /// kinds.
    const STATUS_AS_TABLE: bool = Extensions::NONE.status_as_table;

    /// Name of the Go scheme that contains the kind in kube-apiserver; part of error messages.
    const SCHEME_NAME: &'static str = Extensions::NONE.scheme_name;

    /// Default for dependents if a client deletes the object without a propagation policy.
    const DEPENDENTS: Dependents = Extensions::NONE.dependents;

    /// Annotations that only the full object contains. In kube-apiserver they are a field of the internal type, and
    /// tables and partial metadata are created from that type.
    const HIDDEN_ANNOTATIONS: &'static [&'static str] = Extensions::NONE.hidden_annotations;

    /// Expected processor time of validation in nanoseconds per byte of the object, in addition to decoding. Non-zero
    /// for kinds with expressions, which are compiled.
    const CHECK_COST_PER_BYTE: u64 = Extensions::NONE.check_cost_per_byte;

    /// True if deletion is a phase of the object, as for namespaces and custom resource definitions, whose content is
    /// deleted first. Failed preconditions are worded differently for these kinds.
    const PHASED_DELETION: bool = Extensions::NONE.phased_deletion;

    /// Returns the reason why an object as its client sent it cannot be read as one of kube-apiserver's internal type;
    /// `None` if it can.
    fn conversion_problem(&self) -> Option<String> {
        None
    }

    /// Sets defaults that depend on the features or the clock of the server; all other defaults are already set.
    fn set_server_defaults(&mut self, environment: &Environment) {
        let _ = environment;
    }

    /// Sets the fields that the object of a bookmark always contains because they cannot be absent in kube-apiserver's
    /// internal type.
    fn prepare_bookmark(&mut self) {}

    /// Returns warnings about changes that [`Strategy::prepare_for_create`] is going to make; sent even if the object is
    /// rejected later.
    fn preparation_warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the new object with the values of [`Strategy::prepare_for_create`] that its creator owns; `None` if that
    /// is the object itself.
    fn as_managed(&self) -> Option<Self> {
        None
    }

    /// Adjusts the object when its deletion starts but cannot finish yet.
    fn prepare_for_delete(&mut self) {}

    /// Returns the reason why the object cannot be deleted; `None` if it can.
    fn deletion_problem(&self) -> Option<&'static str> {
        None
    }

    /// True if the object itself blocks its removal, in addition to `metadata.finalizers`.
    fn blocks_deletion(&self) -> bool {
        false
    }

    /// Returns the grace period of a deletion in seconds for the period `requested` by the client; `None` if the kind
    /// has no graceful deletion.
    ///
    /// An object with a positive grace period is marked and remains until a client deletes it with a grace period of 0.
    fn grace_period(&self, requested: Option<i64>) -> Option<i64> {
        let _ = requested;
        None
    }

    /// Returns the completion of a finished object for its table row; `None` before that.
    fn completion(&self) -> Option<Completion> {
        None
    }

    /// Reports errors of the object as a replacement of `old`, in place of [`Strategy::validate`], for kinds that
    /// tolerate existing values. It is part of [`UpdateStep::Object`], which not every order contains, and of writes of
    /// finalizers.
    fn validate_replacement(&self, old: &Self, errors: &mut FieldErrors) {
        let _ = old;
        self.validate(errors);
    }

    /// Reports errors of `stored` that apply only to objects sent in this version; `stored` is already converted to the
    /// storage version. Errors that apply to every version belong to [`Strategy::validate`] of the storage version.
    fn validate_as_sent(stored: &dyn Object, errors: &mut FieldErrors) {
        let _ = (stored, errors);
    }

    /// Like [`StrategyExtensions::validate_as_sent`], for `new` as a replacement of `old`.
    fn validate_update_as_sent(new: &dyn Object, old: &dyn Object, errors: &mut FieldErrors) {
        let _ = (new, old, errors);
    }
}

/// Validation of metadata, in addition to the rules for every object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataRules {
    /// The name follows the rule of the kind; finalizers are standard ones or qualified by a domain.
    Strict,
    /// The name follows the rule of the kind; finalizers need not be qualified.
    AnyFinalizers,
    /// No rules: any name that is legal in a path is accepted.
    None,
}

/// The default for the dependents of a deleted object if the client sends no propagation policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependents {
    /// The garbage collector deletes them in the background.
    Collected,
    /// There are none: objects of the kind own nothing, and a propagation policy has no effect.
    Impossible,
    /// As `Collected`, but the deletion that marks the object ignores the propagation policy; a later deletion honours
    /// it.
    IgnoredAtFirst,
    /// They are orphaned: they remain without an owner.
    Orphaned {
        /// Warning for the client; empty for none.
        warning: &'static str,
    },
}

/// The [`StrategyExtensions`] of one kind, for code that is generic over kinds.
#[derive(Clone, Copy, Debug)]
pub struct Extensions {
    /// See [`StrategyExtensions::UPDATE_ORDER`].
    pub update_order: &'static [UpdateStep],
    /// See [`StrategyExtensions::METADATA`].
    pub metadata: MetadataRules,
    /// See [`StrategyExtensions::FIELD_LABELS`].
    pub field_labels: FieldLabels,
    /// See [`StrategyExtensions::STATUS_AS_TABLE`].
    pub status_as_table: bool,
    /// See [`StrategyExtensions::SCHEME_NAME`].
    pub scheme_name: &'static str,
    /// See [`StrategyExtensions::DEPENDENTS`].
    pub dependents: Dependents,
    /// See [`StrategyExtensions::HIDDEN_ANNOTATIONS`].
    pub hidden_annotations: &'static [&'static str],
    /// See [`StrategyExtensions::CHECK_COST_PER_BYTE`].
    pub check_cost_per_byte: u64,
    /// See [`StrategyExtensions::PHASED_DELETION`].
    pub phased_deletion: bool,
    /// The functions.
    pub hooks: &'static dyn ExtensionHooks,
}

impl Extensions {
    /// The usual behaviour.
    pub const NONE: Self = Self {
        update_order: update_order::CHANGE_FIRST,
        metadata: MetadataRules::Strict,
        field_labels: FieldLabels::NONE,
        status_as_table: true,
        scheme_name: "pkg/api/legacyscheme/scheme.go:30",
        dependents: Dependents::Collected,
        hidden_annotations: &[],
        check_cost_per_byte: 0,
        phased_deletion: false,
        hooks: &NoExtensions,
    };

    /// Returns the extensions of `R`.
    #[must_use]
    pub const fn of<R: Resource + StrategyExtensions>() -> Self {
        Self {
            update_order: R::UPDATE_ORDER,
            metadata: R::METADATA,
            field_labels: R::FIELD_LABELS,
            status_as_table: R::STATUS_AS_TABLE,
            scheme_name: R::SCHEME_NAME,
            dependents: R::DEPENDENTS,
            hidden_annotations: R::HIDDEN_ANNOTATIONS,
            check_cost_per_byte: R::CHECK_COST_PER_BYTE,
            phased_deletion: R::PHASED_DELETION,
            hooks: &Typed::<R>::NEW,
        }
    }
}
