//! Features that a program switches on or off as a whole.

use std::sync::atomic::{AtomicBool, Ordering};

/// A feature gate of Kubernetes. A program sets it before the first request; until then it has the default of
/// Kubernetes.
#[derive(Debug)]
pub struct Feature {
    name: &'static str,
    on: AtomicBool,
}

impl Feature {
    /// Returns a feature that is enabled by default.
    #[must_use]
    pub const fn on(name: &'static str) -> Self {
        Self {
            name,
            on: AtomicBool::new(true),
        }
    }

    /// Returns a feature that is disabled by default.
    #[must_use]
    pub const fn off(name: &'static str) -> Self {
        Self {
            name,
            on: AtomicBool::new(false),
        }
    }

    /// Returns its name in Kubernetes.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Enables or disables the feature for all later requests.
    pub fn switch(&self, on: bool) {
        self.on.store(on, Ordering::Relaxed);
    }

    /// True if the feature is enabled.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }
}
