//! Table columns of storage classes.

use planesmith_machinery::table::Cell;

use super::StorageClass;

pub(super) fn name(class: &StorageClass) -> Cell {
    let ending = if class.is_default() { " (default)" } else { "" };
    Cell::Text(format!("{}{ending}", class.metadata.name))
}

pub(super) fn reclaim_policy(class: &StorageClass) -> Cell {
    Cell::Text(class.reclaim_policy.clone().unwrap_or_else(|| "Delete".to_owned()))
}

pub(super) fn binding_mode(class: &StorageClass) -> Cell {
    Cell::Text(
        class
            .volume_binding_mode
            .clone()
            .unwrap_or_else(|| "<unset>".to_owned()),
    )
}

pub(super) fn expansion(class: &StorageClass) -> Cell {
    Cell::Bool(class.allow_volume_expansion == Some(true))
}
