//! Owners that stand twice.

use planesmith_machinery::meta::{ObjectMeta, OwnerReference};

/// Removes owner references that stand twice, and words the warning about it.
pub(super) fn drop_repeated(meta: &mut ObjectMeta, after_admission: bool) -> Option<String> {
    if meta.owner_references.len() < 2 {
        return None;
    }
    let mut kept: Vec<OwnerReference> = Vec::with_capacity(meta.owner_references.len());
    let mut repeated = Vec::new();
    for owner in std::mem::take(&mut meta.owner_references) {
        if kept.contains(&owner) {
            repeated.push(owner.uid);
        } else {
            kept.push(owner);
        }
    }
    meta.owner_references = kept;
    if repeated.is_empty() {
        return None;
    }
    let when = if after_admission {
        " after mutating admission happens"
    } else {
        ""
    };
    Some(format!(
        ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and \
         may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
        repeated.join(", ")
    ))
}
