//! Times of managers when nothing changed.

use planesmith_machinery::meta::ManagedFieldsEntry;
use planesmith_machinery::object::Object;

use crate::fields::{Ignored, compare};

/// Takes back new times of managers when `new` differs from `old` in nothing else, so that the write changes nothing.
pub fn keep_times(old: &dyn Object, new: &mut dyn Object) {
    let (before, after) = (&old.meta().managed_fields, &new.meta().managed_fields);
    let same_but_time = |(before, after): (&ManagedFieldsEntry, &ManagedFieldsEntry)| {
        before.manager == after.manager
            && before.operation == after.operation
            && before.api_version == after.api_version
            && before.subresource == after.subresource
            && before.fields_type == after.fields_type
            && before.fields_v1 == after.fields_v1
    };
    if before.len() != after.len() || before == after || !before.iter().zip(after).all(same_but_time) {
        return;
    }
    let below = [(
        "metadata",
        Ignored {
            fields: &["managedFields"],
            below: &[],
        },
    )];
    if compare(
        old,
        &*new,
        &Ignored {
            fields: &[],
            below: &below,
        },
    )
    .is_same()
    {
        new.meta_mut().managed_fields.clone_from(&old.meta().managed_fields);
    }
}
