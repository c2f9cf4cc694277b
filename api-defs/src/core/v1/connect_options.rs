//! Parameters of connections to pods, nodes and services. They come in the query, never as objects.

use planesmith_machinery::Struct;
use planesmith_machinery::time::Time;

/// Selects a log and a part of it.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1", "PodLogOptions"))]
pub struct PodLogOptions {
    /// The container; may be empty when the pod has only one.
    #[field(proto = 1)]
    pub container: String,
    /// Go on with what is written from now on.
    #[field(proto = 2)]
    pub follow: bool,
    /// The log of the container that ran before the present one.
    #[field(proto = 3)]
    pub previous: bool,
    /// Only what is at most so many seconds old. Excludes sinceTime.
    #[field(proto = 4)]
    pub since_seconds: Option<i64>,
    /// Only what was written since then. Excludes sinceSeconds.
    #[field(proto = 5)]
    pub since_time: Option<Time>,
    /// Put the time in front of each line.
    #[field(proto = 6)]
    pub timestamps: bool,
    /// Only so many lines from the end.
    #[field(proto = 7)]
    pub tail_lines: Option<i64>,
    /// No more than so many bytes.
    #[field(proto = 8)]
    pub limit_bytes: Option<i64>,
    /// Do not check who the kubelet is.
    #[field(name = "insecureSkipTLSVerifyBackend", proto = 9)]
    pub insecure_skip_tls_verify_backend: bool,
    /// Stream to read: All, Stdout or Stderr.
    #[field(proto = 10)]
    pub stream: Option<String>,
}

/// Command of a new process and the streams to connect to.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1", "PodExecOptions"))]
pub struct PodExecOptions {
    /// Passes what the client sends on to the standard input of the process.
    #[field(proto = 1)]
    pub stdin: bool,
    /// Passes the standard output of the process on to the client.
    #[field(proto = 2)]
    pub stdout: bool,
    /// Passes the standard error of the process on to the client; not with a terminal, which has one stream.
    #[field(proto = 3)]
    pub stderr: bool,
    /// Give the process a terminal.
    #[field(proto = 4)]
    pub tty: bool,
    /// The container; may be empty when the pod has only one.
    #[field(proto = 5)]
    pub container: String,
    /// The program and its arguments; no shell looks at them.
    #[field(proto = 6, keep, list_type = atomic)]
    pub command: Vec<String>,
}

/// Streams of a container's process to connect to.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1", "PodAttachOptions"))]
pub struct PodAttachOptions {
    /// Passes what the client sends on to the standard input of the process.
    #[field(proto = 1)]
    pub stdin: bool,
    /// Passes the standard output of the process on to the client.
    #[field(proto = 2)]
    pub stdout: bool,
    /// Passes the standard error of the process on to the client; not with a terminal, which has one stream.
    #[field(proto = 3)]
    pub stderr: bool,
    /// The process has a terminal.
    #[field(proto = 4)]
    pub tty: bool,
    /// The container; may be empty when the pod has only one.
    #[field(proto = 5)]
    pub container: String,
}

/// Ports of a pod to connect to.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1", "PodPortForwardOptions"))]
pub struct PodPortForwardOptions {
    /// The ports; needed for WebSocket connections only.
    #[field(proto = 1, list_type = atomic)]
    pub ports: Vec<i32>,
}

/// Destination of a proxied request within a pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1", "PodProxyOptions"))]
pub struct PodProxyOptions {
    /// Path and query of the request that the pod gets.
    #[field(proto = 1)]
    pub path: String,
}

/// Destination of a proxied request within a node.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1", "NodeProxyOptions"))]
pub struct NodeProxyOptions {
    /// Path and query of the request that the node gets.
    #[field(proto = 1)]
    pub path: String,
}

/// Destination of a proxied request within a service.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1", "ServiceProxyOptions"))]
pub struct ServiceProxyOptions {
    /// Path and query of the request that the service gets.
    #[field(proto = 1)]
    pub path: String,
}
