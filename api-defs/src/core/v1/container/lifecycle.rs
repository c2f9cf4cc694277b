//! Hooks of containers.

use planesmith_machinery::Struct;

use crate::core::v1::{ExecAction, HTTPGetAction, TCPSocketAction};

/// Lifecycle.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Lifecycle {
    /// The post start.
    #[field(proto = 1)]
    pub post_start: Option<LifecycleHandler>,
    /// The pre stop.
    #[field(proto = 2)]
    pub pre_stop: Option<LifecycleHandler>,
    /// The stop signal.
    #[field(proto = 3)]
    pub stop_signal: Option<String>,
}

/// Lifecycle handler.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct LifecycleHandler {
    /// The exec.
    #[field(proto = 1)]
    pub exec: Option<ExecAction>,
    /// The http get.
    #[field(proto = 2)]
    pub http_get: Option<HTTPGetAction>,
    /// The tcp socket.
    #[field(proto = 3)]
    pub tcp_socket: Option<TCPSocketAction>,
    /// The sleep.
    #[field(proto = 4)]
    pub sleep: Option<SleepAction>,
}

/// Sleep action.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SleepAction {
    /// The seconds.
    #[field(proto = 1, keep)]
    pub seconds: i64,
}
