//! The rules of all custom kinds: what their schemas say.

use crate::object::Object;
use crate::rules::{RulesTable, UpdateOrder};

/// The rules of every custom kind.
pub(super) const TABLE: RulesTable = RulesTable {
    update_order: UpdateOrder::ChangeOnly,
    default_values,
    // A status comes alone; who manages what was found out before.
    prepare_status_update: |new, old| {
        let managed_fields = std::mem::take(&mut new.meta_mut().managed_fields);
        new.meta_mut().clone_from(old.meta());
        new.meta_mut().managed_fields = managed_fields;
    },
    validate: |object, errors| {
        if let Some(object) = object.as_custom()
            && let Some(custom) = object.custom()
        {
            custom.checks().check(custom.schema(), object, errors);
        }
    },
    validate_update: |new, old, errors| {
        if let (Some(new), Some(old)) = (new.as_custom(), old.as_custom())
            && let Some(custom) = new.custom()
        {
            custom.checks().check_update(custom.schema(), new, old, errors);
        }
    },
    validate_status_update: |new, old, errors| {
        if let (Some(new), Some(old)) = (new.as_custom(), old.as_custom())
            && let Some(custom) = new.custom()
        {
            custom.checks().check_status(custom.schema(), new, old, errors);
        }
    },
    ..RulesTable::NONE
};

fn default_values(object: &mut dyn Object) {
    if let Some(object) = object.as_custom_mut()
        && let Some(custom) = object.custom()
    {
        object.change(|document| custom.schema().fill_defaults(document));
    }
}
