//! The stores that command lines name: `sled:DIR`, and those of components, such as `etcd:URLS`.

use std::path::Path;

use anyhow::{Result, bail};
use planesmith_machinery::scheme::StorageMediaType;

use super::folder_store::FolderStore;
use super::work::Work;
use crate::store_scheme::{OpenStore, StoreScheme};

/// The name of folders in command lines.
const SLED: &str = "sled";

/// Opens the store that `text` names. An existing content of a folder may be replaced if `replaces`.
pub(super) fn open(text: &str, replaces: bool, work: &Work<'_>) -> Result<Box<dyn OpenStore>> {
    let (name, place) = text.split_once(':').unwrap_or((text, ""));
    if place.is_empty() {
        bail!("{text:?} names no store; expected {}", expected(work));
    }
    if name == SLED {
        return Ok(Box::new(FolderStore::new(Path::new(place), replaces, work)));
    }
    match scheme(name, work) {
        Some(scheme) => scheme.open(place, work.matches, work.runtime()),
        None => bail!("there are no stores {name:?}; expected {}", expected(work)),
    }
}

/// The encoding that `text` names objects to be stored in, where a store has several.
pub(super) fn media_type(text: &str, work: &Work<'_>) -> Result<StorageMediaType> {
    let name = text.split_once(':').map_or(text, |(name, _)| name);
    scheme(name, work).map_or(Ok(StorageMediaType::default()), |scheme| {
        scheme.media_type(work.matches)
    })
}

fn scheme(name: &str, work: &Work<'_>) -> Option<&'static dyn StoreScheme> {
    let mut schemes = work
        .program
        .components
        .iter()
        .filter_map(|component| component.store_scheme());
    schemes.find(|scheme| scheme.name() == name)
}

fn expected(work: &Work<'_>) -> String {
    let schemes = work
        .program
        .components
        .iter()
        .filter_map(|component| component.store_scheme());
    let further = schemes.map(|scheme| format!(" or {}:URLS", scheme.name()));
    format!("{SLED}:DATA_DIR{}", further.collect::<String>())
}
