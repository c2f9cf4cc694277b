//! Observation of plugin latencies.

use std::time::Duration;

use super::{Operation, Phase};

/// The call of a plugin and its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PluginCall {
    /// The admission phase.
    pub phase: Phase,
    /// The operation of the request.
    pub operation: Operation,
    /// True if the write was refused.
    pub rejected: bool,
}

/// Receives plugin latencies. Must return quickly.
pub trait Observer: Send + Sync {
    /// Reports the result of plugin number `index` of the chain.
    fn plugin(&self, index: usize, call: PluginCall, took: Duration);

    /// Reports the end of a phase, because all plugins have run or one has refused.
    fn step(&self, call: PluginCall, took: Duration);
}
