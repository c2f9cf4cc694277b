//! The part of an object that an update changes.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::strategy::Context;

/// The part of an object that an update changes.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a> {
    /// All but the status, if that has a path of its own.
    Object,
    /// The status.
    Status,
    /// All but the status, without the restrictions of ordinary updates.
    Finalizers,
    /// Another part with a path of its own.
    Own(&'a dyn PartStrategy),
}

impl Part<'_> {
    /// True if an update of this part creates a missing object of `kind`. The status of a kind that updates create is no
    /// exception.
    pub(crate) fn creates(self, kind: &ResourceFacts) -> bool {
        kind.behavior.create_on_update && matches!(self, Part::Object | Part::Status)
    }
}

/// The functions of a part that has a path of its own. They get objects of the storage version.
pub(crate) trait PartStrategy: Send + Sync {
    /// Dotted paths that the field manager of this part does not own.
    fn resets(&self) -> &'static [&'static str];

    /// Copies the fields that a write cannot change from the old object.
    fn prepare(&self, new: &mut dyn Object, context: &Context<'_>, old: &dyn Object);

    /// Reports what is wrong with a replacement of the old object.
    fn check(&self, new: &dyn Object, old: &dyn Object, errors: &mut FieldErrors);
}
