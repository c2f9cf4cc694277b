//! Table columns of persistent volumes.

use planesmith_machinery::table::Cell;

use super::PersistentVolume;
use crate::core::v1::access_mode::short_modes;
use crate::core::v1::storage_class_name::BETA_CLASS;

pub(super) fn capacity(volume: &PersistentVolume) -> Cell {
    let amount = volume.spec.capacity.get("storage");
    Cell::Text(amount.map_or_else(|| "0".to_owned(), ToString::to_string))
}

pub(super) fn access_modes(volume: &PersistentVolume) -> Cell {
    Cell::Text(short_modes(&volume.spec.access_modes))
}

pub(super) fn status(volume: &PersistentVolume) -> Cell {
    Cell::Text(match volume.metadata.deletion_timestamp {
        Some(_) => "Terminating".to_owned(),
        None => volume.status.phase.clone(),
    })
}

pub(super) fn claim(volume: &PersistentVolume) -> Cell {
    let claim = volume.spec.claim_ref.as_ref();
    Cell::Text(claim.map_or_else(String::new, |claim| format!("{}/{}", claim.namespace, claim.name)))
}

pub(super) fn storage_class(volume: &PersistentVolume) -> Cell {
    let annotated = volume.metadata.annotations.get(BETA_CLASS);
    Cell::Text(annotated.unwrap_or(&volume.spec.storage_class_name).clone())
}

pub(super) fn attributes_class(volume: &PersistentVolume) -> Cell {
    text_or_unset(volume.spec.volume_attributes_class_name.as_ref())
}

pub(super) fn volume_mode(volume: &PersistentVolume) -> Cell {
    text_or_unset(volume.spec.volume_mode.as_ref())
}

/// Renders the text, or a placeholder if there is none.
pub(in crate::core::v1) fn text_or_unset(text: Option<&String>) -> Cell {
    Cell::Text(text.cloned().unwrap_or_else(|| "<unset>".to_owned()))
}
