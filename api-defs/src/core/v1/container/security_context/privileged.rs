//! Process-wide switch that permits privileged containers.

use std::sync::atomic::{AtomicBool, Ordering};

/// A process-wide setting that is made before the first request and never changes afterwards.
static ALLOWED: AtomicBool = AtomicBool::new(false);

/// Permits privileged containers from now on. Without this call, pods with such containers are refused.
pub fn allow_privileged_containers() {
    ALLOWED.store(true, Ordering::Relaxed);
}

/// True if privileged containers are permitted.
pub(crate) fn are_allowed() -> bool {
    ALLOWED.load(Ordering::Relaxed)
}
