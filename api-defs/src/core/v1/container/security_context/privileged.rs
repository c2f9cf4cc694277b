//! Whether containers may be as powerful as the node's own programs.

use std::sync::atomic::{AtomicBool, Ordering};

/// One setting for the whole program: it is made before the first request and does not change afterwards.
static ALLOWED: AtomicBool = AtomicBool::new(false);

/// Lets containers be privileged from now on; without it, pods that ask for that are refused.
pub fn allow_privileged_containers() {
    ALLOWED.store(true, Ordering::Relaxed);
}

/// Whether containers can be privileged.
pub(crate) fn are_allowed() -> bool {
    ALLOWED.load(Ordering::Relaxed)
}
