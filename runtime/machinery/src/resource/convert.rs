//! Conversion between the versions of a kind beyond copied fields.

use super::object::{Object, Resource};

/// The conversion between a version and its storage version `H` beyond copied fields; see `#[resource(storage_version =
/// ..., convert)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not implement the conversion to `{H}` and back",
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
