//! Hooks of containers.

use planesmith_machinery::Struct;

use super::stop_signal::STOP_SIGNALS;
use crate::core::v1::{ExecAction, HTTPGetAction, TCPSocketAction};

/// Hooks that run after a container starts and before it stops.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Lifecycle {
    /// Action that runs after the container is started, in parallel to its command. If it fails, the container is
    /// killed.
    #[field(proto = 1)]
    pub post_start: Option<LifecycleHandler>,
    /// Action that runs before the container is stopped, within the grace period. Does not run if the container exits
    /// by itself.
    #[field(proto = 2)]
    pub pre_stop: Option<LifecycleHandler>,
    /// Signal that stops the container. That of the image or SIGTERM when absent. Requires the os of the pod.
    #[field(proto = 3, known = STOP_SIGNALS, go_type = "Signal")]
    pub stop_signal: Option<String>,
}

/// Action of a hook: exactly one of the members.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct LifecycleHandler {
    /// Runs a command in the container.
    #[field(proto = 1)]
    pub exec: Option<ExecAction>,
    /// Sends an HTTP GET request to the container.
    #[field(proto = 2)]
    pub http_get: Option<HTTPGetAction>,
    /// Has no effect in hooks. Deprecated.
    #[field(proto = 3)]
    pub tcp_socket: Option<TCPSocketAction>,
    /// Delays the termination for some time, so that other components can stop using the container.
    #[field(proto = 4)]
    pub sleep: Option<SleepAction>,
}

/// A delay.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SleepAction {
    /// Sleep time in seconds; not longer than the pod's grace period.
    #[field(proto = 1, keep)]
    pub seconds: i64,
}
