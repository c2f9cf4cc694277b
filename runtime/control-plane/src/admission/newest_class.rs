//! Classes of which several are the default.

use std::cmp::Reverse;

use planesmith_machinery::meta::ObjectMeta;

/// The newest of `classes`, or the first by name of those that are as new.
pub(super) fn newest<'c>(classes: impl Iterator<Item = &'c ObjectMeta>) -> Option<&'c ObjectMeta> {
    classes.min_by_key(|class| (Reverse(class.creation_timestamp), class.name.as_str()))
}
