//! Who is told how long plugins take.

use std::time::Duration;

use super::{Operation, Phase};

/// What plugins were asked, and whether they let it through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// In which half of admission.
    pub phase: Phase,
    /// What the write does.
    pub operation: Operation,
    /// Whether it was refused.
    pub rejected: bool,
}

/// Is told how long plugins take; must be quick.
pub trait Observer: Send + Sync {
    /// The plugin `index` of the chain has answered.
    fn plugin(&self, index: usize, asked: Asked, took: Duration);

    /// All plugins of a phase have answered, or one has refused.
    fn step(&self, asked: Asked, took: Duration);
}
