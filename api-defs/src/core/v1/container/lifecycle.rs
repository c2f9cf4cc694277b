//! Hooks of containers.

use planesmith_machinery::Struct;

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
    #[field(
        proto = 3,
        known(
            "SIGABRT",
            "SIGALRM",
            "SIGBUS",
            "SIGCHLD",
            "SIGCLD",
            "SIGCONT",
            "SIGFPE",
            "SIGHUP",
            "SIGILL",
            "SIGINT",
            "SIGIO",
            "SIGIOT",
            "SIGKILL",
            "SIGPIPE",
            "SIGPOLL",
            "SIGPROF",
            "SIGPWR",
            "SIGQUIT",
            "SIGSEGV",
            "SIGSTKFLT",
            "SIGSTOP",
            "SIGSYS",
            "SIGTERM",
            "SIGTRAP",
            "SIGTSTP",
            "SIGTTIN",
            "SIGTTOU",
            "SIGURG",
            "SIGUSR1",
            "SIGUSR2",
            "SIGVTALRM",
            "SIGWINCH",
            "SIGXCPU",
            "SIGXFSZ",
            "SIGRTMIN",
            "SIGRTMIN+1",
            "SIGRTMIN+2",
            "SIGRTMIN+3",
            "SIGRTMIN+4",
            "SIGRTMIN+5",
            "SIGRTMIN+6",
            "SIGRTMIN+7",
            "SIGRTMIN+8",
            "SIGRTMIN+9",
            "SIGRTMIN+10",
            "SIGRTMIN+11",
            "SIGRTMIN+12",
            "SIGRTMIN+13",
            "SIGRTMIN+14",
            "SIGRTMIN+15",
            "SIGRTMAX-14",
            "SIGRTMAX-13",
            "SIGRTMAX-12",
            "SIGRTMAX-11",
            "SIGRTMAX-10",
            "SIGRTMAX-9",
            "SIGRTMAX-8",
            "SIGRTMAX-7",
            "SIGRTMAX-6",
            "SIGRTMAX-5",
            "SIGRTMAX-4",
            "SIGRTMAX-3",
            "SIGRTMAX-2",
            "SIGRTMAX-1",
            "SIGRTMAX"
        ),
        go_type = "Signal"
    )]
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
