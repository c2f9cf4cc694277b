//! The usage of persistent volume claims.

use planesmith_api_defs::core::v1::{PersistentVolumeClaim, ResourceList, ScopedResourceSelectorRequirement};

use super::evaluator::number;
use super::pods::is_among;

const NUMBER: &str = "persistentvolumeclaims";
const STORAGE: &str = "requests.storage";
/// The infix between the name of a class and the counted resource.
const OF_CLASS: &str = ".storageclass.storage.k8s.io/";

pub(super) fn counts(name: &str) -> bool {
    let plain = name.split_once(OF_CLASS).map_or(name, |(_, counted)| counted);
    matches!(plain, NUMBER | STORAGE) || name == "count/persistentvolumeclaims"
}

/// True if the class of attributes that a claim has, is getting, or wants, is in the scope.
pub(super) fn is_in_scope(claim: &PersistentVolumeClaim, scope: &ScopedResourceSelectorRequirement) -> bool {
    if scope.scope_name != "VolumeAttributesClass" {
        return false;
    }
    let target = claim.status.modify_volume_status.as_ref();
    let classes = [
        claim.spec.volume_attributes_class_name.as_deref(),
        claim.status.current_volume_attributes_class_name.as_deref(),
        target.map(|status| status.target_volume_attributes_class_name.as_str()),
    ];
    let mut classes = classes
        .into_iter()
        .flatten()
        .filter(|class| !class.is_empty())
        .peekable();
    match classes.peek() {
        None => is_among(None, scope),
        Some(_) => classes.any(|class| is_among(Some(class), scope)),
    }
}

pub(super) fn usage(claim: &PersistentVolumeClaim) -> ResourceList {
    let mut usage = ResourceList::from([
        ("count/persistentvolumeclaims".to_owned(), number(1)),
        (NUMBER.to_owned(), number(1)),
    ]);
    let class = claim.storage_class().filter(|class| !class.is_empty());
    if let Some(class) = class {
        usage.insert(format!("{class}{OF_CLASS}{NUMBER}"), number(1));
    }
    // A requested class counts until it is known that it cannot be applied.
    let wanted = claim.spec.resources.requests.get("storage");
    let promised = claim.status.allocated_resources.get("storage");
    if let Some(storage) = wanted.map(|wanted| promised.map_or(wanted, |promised| promised.max(wanted))) {
        usage.insert(STORAGE.to_owned(), storage.clone());
        if let Some(class) = class {
            usage.insert(format!("{class}{OF_CLASS}{STORAGE}"), storage.clone());
        }
    }
    usage
}
