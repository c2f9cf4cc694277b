//! Table columns of claims.

use planesmith_machinery::table::Cell;

use super::PersistentVolumeClaim;
use crate::core::v1::access_mode::short_modes;
use crate::core::v1::persistent_volume::text_or_unset;

pub(super) fn status(claim: &PersistentVolumeClaim) -> Cell {
    Cell::Text(match claim.metadata.deletion_timestamp {
        Some(_) => "Terminating".to_owned(),
        None => claim.status.phase.clone(),
    })
}

pub(super) fn capacity(claim: &PersistentVolumeClaim) -> Cell {
    if claim.spec.volume_name.is_empty() {
        return Cell::Text(String::new());
    }
    let amount = claim.status.capacity.get("storage");
    Cell::Text(amount.map_or_else(|| "0".to_owned(), ToString::to_string))
}

pub(super) fn access_modes(claim: &PersistentVolumeClaim) -> Cell {
    Cell::Text(match claim.spec.volume_name.is_empty() {
        true => String::new(),
        false => short_modes(&claim.status.access_modes),
    })
}

pub(super) fn storage_class(claim: &PersistentVolumeClaim) -> Cell {
    Cell::Text(claim.storage_class().unwrap_or_default().to_owned())
}

pub(super) fn attributes_class(claim: &PersistentVolumeClaim) -> Cell {
    text_or_unset(claim.spec.volume_attributes_class_name.as_ref())
}

pub(super) fn volume_mode(claim: &PersistentVolumeClaim) -> Cell {
    text_or_unset(claim.spec.volume_mode.as_ref())
}
