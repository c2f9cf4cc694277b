//! Repeated owner references.

use std::collections::HashSet;

use planesmith_machinery::meta::ObjectMeta;

/// Removes repeated owner references, and returns the warning about them.
pub(super) fn drop_repeated(meta: &mut ObjectMeta, after_admission: bool) -> Option<String> {
    if meta.owner_references.len() < 2 {
        return None;
    }
    // Clients can send tens of thousands: comparing each with all others would keep the server busy for seconds.
    let mut seen = HashSet::with_capacity(meta.owner_references.len());
    let first: Vec<bool> = meta.owner_references.iter().map(|owner| seen.insert(owner)).collect();
    let mut first = first.into_iter();
    let repeated: Vec<String> = meta
        .owner_references
        .extract_if(.., |_| first.next() == Some(false))
        .map(|owner| owner.uid)
        .collect();
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
