//! Features that a program switches on or off as a whole.

use std::sync::atomic::{AtomicBool, Ordering};

/// A feature of Kubernetes that decides what a server does. A program switches it before the first request; it has
/// Kubernetes' default until then.
#[derive(Debug)]
pub struct Feature {
    name: &'static str,
    on: AtomicBool,
}

impl Feature {
    /// A feature that is on unless it is switched off.
    #[must_use]
    pub const fn on(name: &'static str) -> Self {
        Self {
            name,
            on: AtomicBool::new(true),
        }
    }

    /// A feature that is off unless it is switched on.
    #[must_use]
    pub const fn off(name: &'static str) -> Self {
        Self {
            name,
            on: AtomicBool::new(false),
        }
    }

    /// Its name in Kubernetes.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Switches it, for all requests that come later.
    pub fn switch(&self, on: bool) {
        self.on.store(on, Ordering::Relaxed);
    }

    /// True if it is on.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }
}
