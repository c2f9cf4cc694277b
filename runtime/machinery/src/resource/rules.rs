//! The functions beside a kind: what cannot be declared.

use std::collections::BTreeMap;
use std::time::Duration;

use super::object::{Object, Resource};
use super::{Cell, Column, Completion, FieldLabels, ResourceFacts};
use crate::field_error::FieldErrors;

/// The functions of a kind beyond its declarations. Every function has an empty default.
///
/// The derive implements this for a kind unless `#[resource(..., rules)]` says that the kind does it by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no rules",
    note = "write `impl Rules for {Self} {{}}`, or remove `rules` from `#[resource(...)]`"
)]
pub trait Rules: Sized {
    /// In which steps an update is checked, one after the other: one of [`update_order`], or a list of the kind's own. The
    /// order of errors is visible, and so is an error that is found twice.
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_FIRST;

    /// The kind's own rules for metadata, besides those of every object.
    const METADATA: MetadataRules = MetadataRules::Strict;

    /// The names that field selectors take besides the selectable paths, and the way in which others are refused.
    const FIELD_LABELS: FieldLabels = FieldLabels::NONE;

    /// True if its status is shown as a table, too. kube-apiserver forgets some.
    const STATUS_AS_TABLE: bool = true;

    /// kube-apiserver's name for the list of kinds that the kind is in. Errors show it.
    const SCHEME_NAME: &'static str = RulesTable::NONE.scheme_name;

    /// The treatment of dependents when a client deletes the object without a propagation policy.
    const DEPENDENTS: Dependents = Dependents::Collected;

    /// Annotations that are shown with the whole object only: in kube-apiserver they are a field before the object takes the
    /// form of a version, and tables and bare metadata are made before that.
    const HIDDEN_ANNOTATIONS: &'static [&'static str] = &[];

    /// True if valid objects hold proofs, such as signatures, that random ones cannot have: tests take them without.
    const HOLDS_PROOFS: bool = false;

    /// Processor time, in nanoseconds, that checking an object is expected to take for each byte of it, beyond what reading
    /// takes: kinds that hold expressions, which are compiled, have some.
    const CHECK_COST_PER_BYTE: u64 = 0;

    /// True if deletion is a phase of the object's life, which it begins by itself: namespaces and definitions, whose content
    /// is deleted first. Their preconditions are reported in other words.
    const PHASED_DELETION: bool = false;

    /// Fills in values that depend on other fields; declared defaults are already set.
    fn default_values(&mut self) {}

    /// Fills in what the object of a bookmark says although nobody has set it: what cannot be absent in kube-apiserver's own
    /// form of the kind.
    fn prepare_bookmark(&mut self) {}

    /// Warnings for the client about what [`Rules::prepare_create`] is going to change, whether or not the object is
    /// accepted then.
    fn preparation_warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// The new object with what its creator comes to manage although [`Rules::prepare_create`] fills it in; `None` when
    /// that is the object as it is.
    fn as_managed(&self) -> Option<Self> {
        None
    }

    /// Resets what a creator may not decide. `status` is already cleared when the kind has a status subresource.
    fn prepare_create(&mut self) {}

    /// Notes who creates the object, for kinds that act for their creator; runs after [`Rules::prepare_create`].
    fn note_creator(&mut self, creator: &Creator<'_>) {
        let _ = creator;
    }

    /// Takes over from `old` what an update may not change. `status` is already taken over when the kind has a status
    /// subresource.
    fn prepare_update(&mut self, old: &Self) {
        let _ = old;
    }

    /// Adjusts a write to `/status`; everything but `status` is already taken over from `old`.
    fn prepare_status_update(&mut self, old: &Self) {
        let _ = old;
    }

    /// Adjusts the object when its deletion begins but something holds it back.
    fn prepare_delete(&mut self) {}

    /// The reason why the object cannot be deleted; `None` when it can.
    fn deletion_problem(&self) -> Option<&'static str> {
        None
    }

    /// That the object has come to its end, for the row of a table that shows it; `None` while it has not.
    fn completion(&self) -> Option<Completion> {
        None
    }

    /// True if the object itself delays its removal, besides `metadata.finalizers`.
    fn holds_deletion(&self) -> bool {
        false
    }

    /// The time for which the object may go on after its deletion, in seconds, when the client requests `requested`; `None`
    /// means that the kind has no graceful deletion.
    ///
    /// An object with time left stays, marked, until somebody deletes it with a grace period of 0.
    fn grace_period(&self, requested: Option<i64>) -> Option<i64> {
        let _ = requested;
        None
    }

    /// The lifetime of the object after each write; `None` means until it is deleted.
    fn lifetime(&self) -> Option<Duration> {
        None
    }

    /// Reports what is wrong with the object; metadata and declared rules are checked by generic code.
    fn validate(&self, errors: &mut FieldErrors) {
        let _ = errors;
    }

    /// Reports what may not change from `old`; what else is looked at, and when, is said by [`Rules::UPDATE_ORDER`].
    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        let _ = (old, errors);
    }

    /// Reports what is wrong with the object as a replacement of `old`, in place of [`Rules::validate`]: for kinds that
    /// tolerate what stands there already. It belongs to [`UpdateStep::Object`], which not every order has, and to writes of
    /// finalizers.
    fn validate_replacement(&self, old: &Self, errors: &mut FieldErrors) {
        let _ = old;
        self.validate(errors);
    }

    /// Reports what is wrong with a write to `/status`.
    fn validate_status_update(&self, old: &Self, errors: &mut FieldErrors) {
        let _ = (old, errors);
    }

    /// Warnings for the client about an accepted object; `old` is absent on create.
    fn warnings(&self, old: Option<&Self>) -> Vec<String> {
        let _ = old;
        Vec::new()
    }

    /// Warnings for the client about an accepted write to `/status`.
    fn status_warnings(&self, old: &Self) -> Vec<String> {
        let _ = old;
        Vec::new()
    }

    /// Reports what is refused of `stored` only because it was sent in this version; it has been converted to the storage
    /// version already. What is refused however it comes is for [`Rules::validate`] of that version.
    fn validate_as_sent(stored: &dyn Object, errors: &mut FieldErrors) {
        let _ = (stored, errors);
    }

    /// As [`Rules::validate_as_sent`], of `new` as a replacement of `old`.
    fn validate_update_as_sent(new: &dyn Object, old: &dyn Object, errors: &mut FieldErrors) {
        let _ = (new, old, errors);
    }

    /// Brings fields of a random object in line that depend on each other, such as a name that is made of other fields.
    /// Only the tests of definitions call it.
    fn settle_sample(&mut self) {}
}

/// The orders in which most kinds check a replacement of an object.
pub mod update_order {
    use super::UpdateStep::{self, Change, Declared, Metadata, MetadataChange, Object};

    /// The immutable parts, then the new object.
    pub const CHANGE_FIRST: &[UpdateStep] = &[MetadataChange, Change, Metadata, Object];
    /// The new object, then what may not change.
    pub const OBJECT_FIRST: &[UpdateStep] = &[Metadata, Object, MetadataChange, Change];
    /// The immutable metadata, the declared rules, then the other immutable parts: the kind calls the parts that it needs of
    /// [`Rules::validate`](super::Rules::validate) there.
    pub const CHANGE_ONLY: &[UpdateStep] = &[MetadataChange, Declared, Change];
    /// The immutable metadata, the new object, then the other immutable parts; the metadata is not checked a second time.
    pub const METADATA_FIRST: &[UpdateStep] = &[MetadataChange, Object, Change];
    /// The new object, then what may not change; what changes in its metadata is looked at no second time.
    pub const OBJECT_ONLY: &[UpdateStep] = &[Metadata, Object, Change];
}

/// One look at a replacement of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateStep {
    /// Its metadata as on create.
    Metadata,
    /// The immutable parts of its metadata.
    MetadataChange,
    /// The declared rules, without [`Rules::validate`].
    Declared,
    /// The declared rules and [`Rules::validate_replacement`].
    Object,
    /// The immutable parts: declared, and [`Rules::validate_update`].
    Change,
}

/// The rules of a kind for its metadata, besides those of every object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataRules {
    /// A name by the kind's rule, and finalizers that are among the standard ones or qualified by a domain.
    Strict,
    /// A name by the kind's rule; finalizers need not be qualified.
    AnyFinalizers,
    /// Nothing: any name that can stand in a path is legal, too.
    None,
}

/// The treatment of the dependents of a deleted object when the client says nothing about them, unless there cannot be any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependents {
    /// They are collected in the background.
    Collected,
    /// There are none: objects of the kind own nothing, and a client's wish about dependents means nothing.
    Impossible,
    /// As `Collected`, but the deletion that marks the object ignores a wish of the client about them; a later one follows it.
    IgnoredAtFirst,
    /// They stay, without an owner.
    Orphaned {
        /// Tells the client so; empty for no warning.
        warning: &'static str,
    },
}

/// The creator of an object, as its credentials say.
#[derive(Clone, Copy, Debug)]
pub struct Creator<'a> {
    /// Name of the user.
    pub name: &'a str,
    /// Identity that survives a name being given to someone else; may be empty.
    pub uid: &'a str,
    /// Groups of the user.
    pub groups: &'a [String],
    /// Further facts about the user.
    pub extra: &'a BTreeMap<String, Vec<String>>,
}

/// The rules of one kind as plain functions, for code that does not know the kind.
///
/// Each function expects an object of the kind that the table belongs to, unless it says otherwise, and does nothing with
/// any other.
#[derive(Clone, Copy, Debug)]
pub struct RulesTable {
    /// See [`Rules::UPDATE_ORDER`].
    pub update_order: &'static [UpdateStep],
    /// [`Rules::STATUS_AS_TABLE`].
    pub status_as_table: bool,
    /// See [`Rules::SCHEME_NAME`].
    pub scheme_name: &'static str,
    /// See [`Rules::METADATA`].
    pub metadata: MetadataRules,
    /// [`Rules::FIELD_LABELS`].
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
    /// The table of every kind without rules of its own.
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

    /// The table of `R`.
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

/// The conversion of a version, beyond copied fields, to its storage version `H` and back; see `#[resource(storage_version =
/// ..., convert)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how it becomes `{H}` and back",
    note = "write `impl Convert<{H}> for {Self}`, or remove `convert` from `#[resource(...)]` if copying fields is enough"
)]
pub trait Convert<H: Resource>: Resource {
    /// Fills in `hub` what copying could not.
    fn finish_to_hub(&self, hub: &mut H);
    /// Fills in what copying from `hub` could not.
    fn finish_from_hub(&mut self, hub: &H);
    /// True if this version can hold everything in `hub`.
    ///
    /// What it cannot hold is lost when a client of this version writes the object back, and such objects are left out
    /// of the proof that versions lose nothing: every `false` here is a loss that is accepted knowingly.
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

/// Calls a column's function with the type it expects, for a derived table.
pub fn cell_of<R: Resource>(object: &dyn Object, cell: fn(&R) -> Cell) -> Cell {
    object.downcast_ref::<R>().map_or(Cell::Null, cell)
}

/// A zero object of `R`, for a derived table.
#[must_use]
pub fn zero<R: Resource>() -> Box<dyn Object> {
    Box::new(R::default())
}

/// The facts of `R`, for a derived table.
#[must_use]
pub fn facts_of<R: Resource>() -> &'static ResourceFacts {
    R::RESOURCE
}

/// The columns of `R`.
#[must_use]
pub fn columns_of<R: Resource>() -> &'static [Column] {
    R::RESOURCE.columns
}
