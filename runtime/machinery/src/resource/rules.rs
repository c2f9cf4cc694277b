//! The strategy of a kind: behaviour that cannot be declared.

use std::collections::BTreeMap;
use std::time::Duration;

use super::object::{Object, Resource};
use super::{Cell, Column, Completion, FieldLabels, ResourceFacts};
use crate::field_error::FieldErrors;

/// The strategy of a kind: its behaviour beyond the declarations. Every function has an empty default.
///
/// The derive implements this trait unless `#[resource(..., rules)]` declares a manual implementation.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no rules",
    note = "write `impl Rules for {Self} {{}}`, or remove `rules` from `#[resource(...)]`"
)]
pub trait Rules: Sized {
    /// Steps of the validation of an update, in order: one of [`update_order`], or a list of the kind's own. The order
    /// of errors is visible to clients, and so are duplicates.
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_FIRST;

    /// Rules of the kind for metadata, in addition to the rules for every object.
    const METADATA: MetadataRules = MetadataRules::Strict;

    /// Fields that selectors accept besides the selectable paths, and the wording of a rejection.
    const FIELD_LABELS: FieldLabels = FieldLabels::NONE;

    /// True if the status subresource can be printed as a table. kube-apiserver lacks the table convertor for some
    /// kinds.
    const STATUS_AS_TABLE: bool = true;

    /// Name of the Go scheme that contains the kind in kube-apiserver; part of error messages.
    const SCHEME_NAME: &'static str = RulesTable::NONE.scheme_name;

    /// Default for dependents if a client deletes the object without a propagation policy.
    const DEPENDENTS: Dependents = Dependents::Collected;

    /// Annotations that only the full object contains. In kube-apiserver they are a field of the internal type, and
    /// tables and partial metadata are created from that type.
    const HIDDEN_ANNOTATIONS: &'static [&'static str] = &[];

    /// True if valid objects contain proofs, such as signatures, that random objects cannot have; tests omit them.
    const HOLDS_PROOFS: bool = false;

    /// Expected processor time of validation in nanoseconds per byte of the object, in addition to decoding. Non-zero
    /// for kinds with expressions, which are compiled.
    const CHECK_COST_PER_BYTE: u64 = 0;

    /// True if deletion is a phase of the object, as for namespaces and custom resource definitions, whose content is
    /// deleted first. Failed preconditions are worded differently for these kinds.
    const PHASED_DELETION: bool = false;

    /// Sets defaults that depend on other fields; declared defaults are already set.
    fn default_values(&mut self) {}

    /// Sets the fields that the object of a bookmark always contains because they cannot be absent in kube-apiserver's
    /// internal type.
    fn prepare_bookmark(&mut self) {}

    /// Returns warnings about changes that [`Rules::prepare_create`] is going to make; sent even if the object is
    /// rejected later.
    fn preparation_warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the new object with the values of [`Rules::prepare_create`] that its creator owns; `None` if that is the
    /// object itself.
    fn as_managed(&self) -> Option<Self> {
        None
    }

    /// Resets fields that a creator cannot set. `status` is already cleared if the kind has a status subresource.
    fn prepare_create(&mut self) {}

    /// Records the creator of the object, for kinds that act on behalf of their creator; runs after
    /// [`Rules::prepare_create`].
    fn note_creator(&mut self, creator: &Creator<'_>) {
        let _ = creator;
    }

    /// Restores from `old` the fields that an update cannot change. `status` is already restored if the kind has a
    /// status subresource.
    fn prepare_update(&mut self, old: &Self) {
        let _ = old;
    }

    /// Adjusts a write to `/status`; everything but `status` is already restored from `old`.
    fn prepare_status_update(&mut self, old: &Self) {
        let _ = old;
    }

    /// Adjusts the object when its deletion starts but cannot finish yet.
    fn prepare_delete(&mut self) {}

    /// Returns the reason why the object cannot be deleted; `None` if it can.
    fn deletion_problem(&self) -> Option<&'static str> {
        None
    }

    /// Returns the completion of a finished object for its table row; `None` before that.
    fn completion(&self) -> Option<Completion> {
        None
    }

    /// True if the object itself blocks its removal, in addition to `metadata.finalizers`.
    fn holds_deletion(&self) -> bool {
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

    /// Returns the time to live of the object after each write; `None` means no limit.
    fn lifetime(&self) -> Option<Duration> {
        None
    }

    /// Reports errors of the object; generic code checks metadata and declared rules.
    fn validate(&self, errors: &mut FieldErrors) {
        let _ = errors;
    }

    /// Reports forbidden changes from `old`. [`Rules::UPDATE_ORDER`] determines the other checks and their order.
    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        let _ = (old, errors);
    }

    /// Reports errors of the object as a replacement of `old`, in place of [`Rules::validate`], for kinds that tolerate
    /// existing values. It is part of [`UpdateStep::Object`], which not every order contains, and of writes of
    /// finalizers.
    fn validate_replacement(&self, old: &Self, errors: &mut FieldErrors) {
        let _ = old;
        self.validate(errors);
    }

    /// Reports errors of a write to `/status`.
    fn validate_status_update(&self, old: &Self, errors: &mut FieldErrors) {
        let _ = (old, errors);
    }

    /// Returns warnings about an accepted object; `old` is absent on create.
    fn warnings(&self, old: Option<&Self>) -> Vec<String> {
        let _ = old;
        Vec::new()
    }

    /// Returns warnings about an accepted write to `/status`.
    fn status_warnings(&self, old: &Self) -> Vec<String> {
        let _ = old;
        Vec::new()
    }

    /// Reports errors of `stored` that apply only to objects sent in this version; `stored` is already converted to the
    /// storage version. Errors that apply to every version belong to [`Rules::validate`] of the storage version.
    fn validate_as_sent(stored: &dyn Object, errors: &mut FieldErrors) {
        let _ = (stored, errors);
    }

    /// Like [`Rules::validate_as_sent`], for `new` as a replacement of `old`.
    fn validate_update_as_sent(new: &dyn Object, old: &dyn Object, errors: &mut FieldErrors) {
        let _ = (new, old, errors);
    }

    /// Makes dependent fields of a random object consistent, such as a name that is composed of other fields. Only the
    /// tests of definitions call it.
    fn settle_sample(&mut self) {}
}

/// Validation orders for the replacement of an object.
pub mod update_order {
    use super::UpdateStep::{self, Change, Declared, Metadata, MetadataChange, Object};

    /// Immutability first, then the new object.
    pub const CHANGE_FIRST: &[UpdateStep] = &[MetadataChange, Change, Metadata, Object];
    /// The new object first, then immutability.
    pub const OBJECT_FIRST: &[UpdateStep] = &[Metadata, Object, MetadataChange, Change];
    /// Immutability of metadata, the declared rules, then immutability of the rest. The kind calls
    /// [`Rules::validate`](super::Rules::validate) from there as needed.
    pub const CHANGE_ONLY: &[UpdateStep] = &[MetadataChange, Declared, Change];
    /// Immutability of metadata, the new object, then immutability of the rest; the metadata itself is not checked
    /// again.
    pub const METADATA_FIRST: &[UpdateStep] = &[MetadataChange, Object, Change];
    /// The new object, then immutability; changes of metadata are not checked again.
    pub const OBJECT_ONLY: &[UpdateStep] = &[Metadata, Object, Change];
}

/// One step of the validation of a replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateStep {
    /// The metadata, as on create.
    Metadata,
    /// Immutability of metadata.
    MetadataChange,
    /// The declared rules, without [`Rules::validate`].
    Declared,
    /// The declared rules and [`Rules::validate_replacement`].
    Object,
    /// Immutability: declared rules and [`Rules::validate_update`].
    Change,
}

/// Rules of a kind for metadata, in addition to the rules for every object.
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

/// The authenticated user that creates an object.
#[derive(Clone, Copy, Debug)]
pub struct Creator<'a> {
    /// Name of the user.
    pub name: &'a str,
    /// Identity that is unique even if a name is reused; may be empty.
    pub uid: &'a str,
    /// Groups of the user.
    pub groups: &'a [String],
    /// Further attributes of the user.
    pub extra: &'a BTreeMap<String, Vec<String>>,
}

/// The strategy of one kind as plain functions, for code that is generic over kinds.
///
/// Unless stated otherwise, each function expects an object of the kind that the table belongs to and ignores any
/// other.
#[derive(Clone, Copy, Debug)]
pub struct RulesTable {
    /// See [`Rules::UPDATE_ORDER`].
    pub update_order: &'static [UpdateStep],
    /// See [`Rules::STATUS_AS_TABLE`].
    pub status_as_table: bool,
    /// See [`Rules::SCHEME_NAME`].
    pub scheme_name: &'static str,
    /// See [`Rules::METADATA`].
    pub metadata: MetadataRules,
    /// See [`Rules::FIELD_LABELS`].
    pub field_labels: FieldLabels,
    /// See [`Rules::DEPENDENTS`].
    pub dependents: Dependents,
    /// See [`Rules::HIDDEN_ANNOTATIONS`].
    pub hidden_annotations: &'static [&'static str],
    /// See [`Rules::prepare_bookmark`].
    pub prepare_bookmark: fn(&mut dyn Object),
    /// See [`Rules::HOLDS_PROOFS`].
    pub holds_proofs: bool,
    /// See [`Rules::CHECK_COST_PER_BYTE`].
    pub check_cost_per_byte: u64,
    /// See [`Rules::PHASED_DELETION`].
    pub phased_deletion: bool,
    /// See [`Rules::default_values`].
    pub default_values: fn(&mut dyn Object),
    /// See [`Rules::preparation_warnings`].
    pub preparation_warnings: fn(&dyn Object) -> Vec<String>,
    /// See [`Rules::as_managed`].
    pub as_managed: fn(&dyn Object) -> Option<Box<dyn Object>>,
    /// See [`Rules::prepare_create`].
    pub prepare_create: fn(&mut dyn Object),
    /// See [`Rules::note_creator`].
    pub note_creator: fn(&mut dyn Object, &Creator<'_>),
    /// See [`Rules::prepare_update`].
    pub prepare_update: fn(&mut dyn Object, &dyn Object),
    /// See [`Rules::prepare_status_update`].
    pub prepare_status_update: fn(&mut dyn Object, &dyn Object),
    /// See [`Rules::prepare_delete`].
    pub prepare_delete: fn(&mut dyn Object),
    /// See [`Rules::deletion_problem`].
    pub deletion_problem: fn(&dyn Object) -> Option<&'static str>,
    /// See [`Rules::completion`].
    pub completion: fn(&dyn Object) -> Option<Completion>,
    /// See [`Rules::holds_deletion`].
    pub holds_deletion: fn(&dyn Object) -> bool,
    /// See [`Rules::grace_period`].
    pub grace_period: fn(&dyn Object, Option<i64>) -> Option<i64>,
    /// See [`Rules::lifetime`].
    pub lifetime: fn(&dyn Object) -> Option<Duration>,
    /// See [`Rules::validate`].
    pub validate: fn(&dyn Object, &mut FieldErrors),
    /// See [`Rules::validate_update`].
    pub validate_update: fn(&dyn Object, &dyn Object, &mut FieldErrors),
    /// See [`Rules::validate_replacement`].
    pub validate_replacement: fn(&dyn Object, &dyn Object, &mut FieldErrors),
    /// See [`Rules::validate_status_update`].
    pub validate_status_update: fn(&dyn Object, &dyn Object, &mut FieldErrors),
    /// See [`Rules::validate_as_sent`]; the object is of the storage version.
    pub validate_as_sent: fn(&dyn Object, &mut FieldErrors),
    /// See [`Rules::validate_update_as_sent`]; the objects are of the storage version.
    pub validate_update_as_sent: fn(&dyn Object, &dyn Object, &mut FieldErrors),
    /// See [`Rules::settle_sample`].
    pub settle_sample: fn(&mut dyn Object),
    /// See [`Rules::warnings`].
    pub warnings: fn(&dyn Object, Option<&dyn Object>) -> Vec<String>,
    /// See [`Rules::status_warnings`].
    pub status_warnings: fn(&dyn Object, &dyn Object) -> Vec<String>,
}

impl RulesTable {
    /// The table of kinds without a strategy of their own.
    pub const NONE: Self = Self {
        update_order: update_order::CHANGE_FIRST,
        status_as_table: true,
        scheme_name: "pkg/api/legacyscheme/scheme.go:30",
        metadata: MetadataRules::Strict,
        field_labels: FieldLabels::NONE,
        dependents: Dependents::Collected,
        hidden_annotations: &[],
        prepare_bookmark: |_| {},
        holds_proofs: false,
        check_cost_per_byte: 0,
        phased_deletion: false,
        default_values: |_| {},
        preparation_warnings: |_| Vec::new(),
        as_managed: |_| None,
        prepare_create: |_| {},
        note_creator: |_, _| {},
        prepare_update: |_, _| {},
        prepare_status_update: |_, _| {},
        prepare_delete: |_| {},
        deletion_problem: |_| None,
        completion: |_| None,
        holds_deletion: |_| false,
        grace_period: |_, _| None,
        lifetime: |_| None,
        validate: |_, _| {},
        validate_update: |_, _, _| {},
        validate_replacement: |_, _, _| {},
        validate_status_update: |_, _, _| {},
        validate_as_sent: |_, _| {},
        validate_update_as_sent: |_, _, _| {},
        settle_sample: |_| {},
        warnings: |_, _| Vec::new(),
        status_warnings: |_, _| Vec::new(),
    };

    /// Returns the table of `R`.
    #[must_use]
    pub const fn of<R: Resource>() -> Self {
        Self {
            update_order: R::UPDATE_ORDER,
            status_as_table: R::STATUS_AS_TABLE,
            scheme_name: R::SCHEME_NAME,
            metadata: R::METADATA,
            field_labels: R::FIELD_LABELS,
            dependents: R::DEPENDENTS,
            hidden_annotations: R::HIDDEN_ANNOTATIONS,
            prepare_bookmark: |object| {
                if let Some(object) = object.downcast_mut::<R>() {
                    object.prepare_bookmark();
                }
            },
            holds_proofs: R::HOLDS_PROOFS,
            check_cost_per_byte: R::CHECK_COST_PER_BYTE,
            phased_deletion: R::PHASED_DELETION,
            default_values: |object| {
                if let Some(object) = object.downcast_mut::<R>() {
                    object.default_values();
                }
            },
            preparation_warnings: |object| match object.downcast_ref::<R>() {
                Some(object) => object.preparation_warnings(),
                None => Vec::new(),
            },
            as_managed: |object| Some(Box::new(object.downcast_ref::<R>()?.as_managed()?)),
            prepare_create: |object| {
                if let Some(object) = object.downcast_mut::<R>() {
                    object.prepare_create();
                }
            },
            note_creator: |object, creator| {
                if let Some(object) = object.downcast_mut::<R>() {
                    object.note_creator(creator);
                }
            },
            prepare_update: |object, old| {
                if let (Some(object), Some(old)) = (object.downcast_mut::<R>(), old.downcast_ref::<R>()) {
                    object.prepare_update(old);
                }
            },
            prepare_status_update: |object, old| {
                if let (Some(object), Some(old)) = (object.downcast_mut::<R>(), old.downcast_ref::<R>()) {
                    object.prepare_status_update(old);
                }
            },
            prepare_delete: |object| {
                if let Some(object) = object.downcast_mut::<R>() {
                    object.prepare_delete();
                }
            },
            deletion_problem: |object| object.downcast_ref::<R>()?.deletion_problem(),
            completion: |object| object.downcast_ref::<R>()?.completion(),
            holds_deletion: |object| object.downcast_ref::<R>().is_some_and(R::holds_deletion),
            grace_period: |object, requested| object.downcast_ref::<R>()?.grace_period(requested),
            lifetime: |object| object.downcast_ref::<R>().and_then(R::lifetime),
            validate: |object, errors| {
                if let Some(object) = object.downcast_ref::<R>() {
                    object.validate(errors);
                }
            },
            validate_update: |object, old, errors| {
                if let (Some(object), Some(old)) = (object.downcast_ref::<R>(), old.downcast_ref::<R>()) {
                    object.validate_update(old, errors);
                }
            },
            validate_replacement: |object, old, errors| {
                if let (Some(object), Some(old)) = (object.downcast_ref::<R>(), old.downcast_ref::<R>()) {
                    object.validate_replacement(old, errors);
                }
            },
            validate_status_update: |object, old, errors| {
                if let (Some(object), Some(old)) = (object.downcast_ref::<R>(), old.downcast_ref::<R>()) {
                    object.validate_status_update(old, errors);
                }
            },
            validate_as_sent: R::validate_as_sent,
            validate_update_as_sent: R::validate_update_as_sent,
            settle_sample: |object| {
                if let Some(object) = object.downcast_mut::<R>() {
                    object.settle_sample();
                }
            },
            warnings: |object, old| match object.downcast_ref::<R>() {
                Some(object) => object.warnings(old.and_then(|old| old.downcast_ref::<R>())),
                None => Vec::new(),
            },
            status_warnings: |object, old| match (object.downcast_ref::<R>(), old.downcast_ref::<R>()) {
                (Some(object), Some(old)) => object.status_warnings(old),
                _ => Vec::new(),
            },
        }
    }
}

/// The conversion between a version and its storage version `H` beyond copied fields; see `#[resource(storage_version =
/// ..., convert)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how it becomes `{H}` and back",
    note = "write `impl Convert<{H}> for {Self}`, or remove `convert` from `#[resource(...)]` if copying fields is enough"
)]
pub trait Convert<H: Resource>: Resource {
    /// Sets fields of `hub` that copying could not.
    fn finish_to_hub(&self, hub: &mut H);
    /// Sets fields that copying from `hub` could not.
    fn finish_from_hub(&mut self, hub: &H);
    /// True if this version can represent everything in `hub`.
    ///
    /// Anything else is lost when a client of this version writes the object back. Such objects are excluded from the
    /// test that versions lose nothing: every `false` is a loss that is accepted knowingly.
    fn can_hold(hub: &H) -> bool {
        let _ = hub;
        true
    }
}

/// [`Convert::finish_to_hub`] without the types, for a derived table.
pub fn finish_to_hub<R: Convert<H>, H: Resource>(old: &dyn Object, hub: &mut dyn Object) {
    if let (Some(old), Some(hub)) = (old.downcast_ref::<R>(), hub.downcast_mut::<H>()) {
        old.finish_to_hub(hub);
    }
}

/// [`Convert::finish_from_hub`] without the types, for a derived table.
pub fn finish_from_hub<R: Convert<H>, H: Resource>(hub: &dyn Object, old: &mut dyn Object) {
    if let (Some(hub), Some(old)) = (hub.downcast_ref::<H>(), old.downcast_mut::<R>()) {
        old.finish_from_hub(hub);
    }
}

/// [`Convert::can_hold`] without the types, for a derived table.
#[must_use]
pub fn can_hold<R: Convert<H>, H: Resource>(hub: &dyn Object) -> bool {
    hub.downcast_ref::<H>().is_none_or(R::can_hold)
}

/// Calls the function of a column with the type that it expects, for a derived table.
pub fn cell_of<R: Resource>(object: &dyn Object, cell: fn(&R) -> Cell) -> Cell {
    object.downcast_ref::<R>().map_or(Cell::Null, cell)
}

/// Returns a zero object of `R`, for a derived table.
#[must_use]
pub fn zero<R: Resource>() -> Box<dyn Object> {
    Box::new(R::default())
}

/// Returns the facts of `R`, for a derived table.
#[must_use]
pub fn facts_of<R: Resource>() -> &'static ResourceFacts {
    R::RESOURCE
}

/// Returns the columns of `R`.
#[must_use]
pub fn columns_of<R: Resource>() -> &'static [Column] {
    R::RESOURCE.columns
}
