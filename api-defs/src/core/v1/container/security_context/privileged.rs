//! Process-wide switch that permits privileged containers.

use std::sync::atomic::{AtomicBool, Ordering};

/// One setting for the whole program: it is made before the first request and does not change afterwards.
static ALLOWED: AtomicBool = AtomicBool::new(false);

/// Lets containers be privileged from now on; without it, pods that ask for that are refused.
pub fn allow_privileged_containers() {
    ALLOWED.store(true, Ordering::Relaxed);
}

/// True if privileged containers are permitted.
pub(crate) fn are_allowed() -> bool {
    ALLOWED.load(Ordering::Relaxed)
}
