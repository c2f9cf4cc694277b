//! Probes, and the actions of probes and hooks.

use planesmith_machinery::Struct;
use planesmith_machinery::int_or_string::IntOrString;

/// Probe.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Probe {
    /// The probe handler.
    #[field(inline, proto = 1)]
    pub probe_handler: ProbeHandler,
    /// The initial delay seconds.
    #[field(proto = 2)]
    pub initial_delay_seconds: i32,
    /// The timeout seconds.
    #[field(proto = 3)]
    pub timeout_seconds: i32,
    /// The period seconds.
    #[field(proto = 4)]
    pub period_seconds: i32,
    /// The success threshold.
    #[field(proto = 5)]
    pub success_threshold: i32,
    /// The failure threshold.
    #[field(proto = 6)]
    pub failure_threshold: i32,
    /// The termination grace period seconds.
    #[field(proto = 7)]
    pub termination_grace_period_seconds: Option<i64>,
}

/// Probe handler.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ProbeHandler {
    /// The exec.
    #[field(proto = 1)]
    pub exec: Option<ExecAction>,
    /// The http get.
    #[field(proto = 2)]
    pub http_get: Option<HTTPGetAction>,
    /// The tcp socket.
    #[field(proto = 3)]
    pub tcp_socket: Option<TCPSocketAction>,
    /// The grpc.
    #[field(proto = 4)]
    pub grpc: Option<GRPCAction>,
}

/// Exec action.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ExecAction {
    /// The command.
    #[field(proto = 1, list_type = atomic)]
    pub command: Vec<String>,
}

/// Httpget action.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HTTPGetAction {
    /// The path.
    #[field(proto = 1)]
    pub path: String,
    /// The port.
    #[field(proto = 2, keep)]
    pub port: IntOrString,
    /// The host.
    #[field(proto = 3)]
    pub host: String,
    /// The scheme.
    #[field(proto = 4)]
    pub scheme: String,
    /// The http headers.
    #[field(proto = 5, list_type = atomic)]
    pub http_headers: Vec<HTTPHeader>,
}

/// Httpheader.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HTTPHeader {
    /// The name.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The value.
    #[field(proto = 2, keep)]
    pub value: String,
}

/// Tcpsocket action.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TCPSocketAction {
    /// The port.
    #[field(proto = 1, keep)]
    pub port: IntOrString,
    /// The host.
    #[field(proto = 2)]
    pub host: String,
}

/// Grpcaction.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct GRPCAction {
    /// The port.
    #[field(proto = 1, keep)]
    pub port: i32,
    /// The service.
    #[field(proto = 2, keep, optional, default = "")]
    pub service: Option<String>,
}
