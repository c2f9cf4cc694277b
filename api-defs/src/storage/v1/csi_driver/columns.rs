//! Table columns of storage drivers.

use planesmith_machinery::table::Cell;

use super::CSIDriver;

pub(super) fn attach_required(driver: &CSIDriver) -> Cell {
    Cell::Bool(driver.spec.attach_required.unwrap_or(true))
}

pub(super) fn pod_info(driver: &CSIDriver) -> Cell {
    Cell::Bool(driver.spec.pod_info_on_mount == Some(true))
}

pub(super) fn storage_capacity(driver: &CSIDriver) -> Cell {
    Cell::Bool(driver.spec.storage_capacity == Some(true))
}

pub(super) fn token_requests(driver: &CSIDriver) -> Cell {
    let audiences = driver
        .spec
        .token_requests
        .iter()
        .map(|request| request.audience.as_str());
    joined_or(&audiences.collect::<Vec<_>>(), "<unset>")
}

pub(super) fn requires_republish(driver: &CSIDriver) -> Cell {
    Cell::Bool(driver.spec.requires_republish == Some(true))
}

pub(super) fn modes(driver: &CSIDriver) -> Cell {
    let modes = driver.spec.volume_lifecycle_modes.iter().map(String::as_str);
    joined_or(&modes.collect::<Vec<_>>(), "<none>")
}

fn joined_or(texts: &[&str], otherwise: &str) -> Cell {
    Cell::Text(if texts.is_empty() {
        otherwise.to_owned()
    } else {
        texts.join(",")
    })
}
