//! Probes, and the actions of probes and hooks.

use planesmith_machinery::Struct;
use planesmith_machinery::int_or_string::IntOrString;

/// A periodic check of a container.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Probe {
    /// Type of the probe: a command, an HTTP request, a TCP connection or a gRPC call.
    #[field(inline, proto = 1)]
    pub probe_handler: ProbeHandler,
    /// Time in seconds between the start of the container and the first probe.
    #[field(proto = 2)]
    pub initial_delay_seconds: i32,
    /// Timeout of a probe in seconds. 1 by default.
    #[field(proto = 3)]
    pub timeout_seconds: i32,
    /// Interval between probes in seconds. 10 by default.
    #[field(proto = 4)]
    pub period_seconds: i32,
    /// Number of consecutive successes after a failure for the probe to succeed again. 1 by default; must be 1 for
    /// liveness and startup probes.
    #[field(proto = 5)]
    pub success_threshold: i32,
    /// Number of consecutive failures for the probe to fail. 3 by default.
    #[field(proto = 6)]
    pub failure_threshold: i32,
    /// Termination grace period in seconds after a failed probe. That of the pod when absent. Not allowed for readiness
    /// probes.
    #[field(proto = 7)]
    pub termination_grace_period_seconds: Option<i64>,
}

/// Type of a probe: exactly one of the members.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ProbeHandler {
    /// Runs a command in the container. Exit code 0 is a success.
    #[field(proto = 1)]
    pub exec: Option<ExecAction>,
    /// Sends an HTTP request. Status codes from 200 to 399 are a success.
    #[field(proto = 2)]
    pub http_get: Option<HTTPGetAction>,
    /// Opens a TCP connection. An established connection is a success.
    #[field(proto = 3)]
    pub tcp_socket: Option<TCPSocketAction>,
    /// Calls the gRPC health service.
    #[field(proto = 4)]
    pub grpc: Option<GRPCAction>,
}

/// A command that is executed in a container.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ExecAction {
    /// Command and its arguments, executed without a shell.
    #[field(proto = 1, list_type = atomic)]
    pub command: Vec<String>,
}

/// An HTTP request.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HTTPGetAction {
    /// Path of the request.
    #[field(proto = 1)]
    pub path: String,
    /// Number or name of the port.
    #[field(proto = 2, keep)]
    pub port: IntOrString,
    /// Host name or address to connect to. The pod's address when empty.
    #[field(proto = 3)]
    pub host: String,
    /// Scheme: HTTP (the default) or HTTPS.
    #[field(proto = 4, known("HTTP", "HTTPS"), go_type = "URIScheme")]
    pub scheme: String,
    /// Headers of the request. Names may be repeated.
    #[field(proto = 5, list_type = atomic)]
    pub http_headers: Vec<HTTPHeader>,
}

/// A header of an HTTP request.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HTTPHeader {
    /// Name of the header, case-insensitive.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Value of the header.
    #[field(proto = 2, keep)]
    pub value: String,
}

/// A TCP connection.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TCPSocketAction {
    /// Number or name of the port.
    #[field(proto = 1, keep)]
    pub port: IntOrString,
    /// Host name or address to connect to. The pod's address when empty.
    #[field(proto = 2)]
    pub host: String,
}

/// A call of the gRPC health service.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct GRPCAction {
    /// Port of the gRPC server in the container, from 1 to 65535.
    #[field(proto = 1, keep)]
    pub port: i32,
    /// Name of the service whose health is queried. The whole server when empty.
    #[field(proto = 2, keep, optional, default = "")]
    pub service: Option<String>,
}
