//! The server that objects belong to.

use std::sync::{Arc, LazyLock};

use planesmith_clock::{Clock, SystemClock};

use crate::feature::Features;

/// The properties of a server that decide the content of objects: its features, and its clock.
///
/// The default has the default features, and the clock of the operating system.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The features.
    pub features: Features,
    /// The clock, for times that the server sets.
    pub clock: Arc<dyn Clock>,
}

impl Environment {
    /// Returns the default, for objects that belong to no server.
    #[must_use]
    pub fn defaults() -> &'static Self {
        static DEFAULTS: LazyLock<Environment> = LazyLock::new(Environment::default);
        &DEFAULTS
    }
}

impl Default for Environment {
    fn default() -> Self {
        Self {
            features: Features::default(),
            clock: Arc::new(SystemClock),
        }
    }
}
