//! Options of connections to pods, nodes and services, which clients send as query parameters, never as objects.

use planesmith_machinery::Struct;
use planesmith_machinery::time::Time;

/// Selects a log and a part of it.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1", "PodLogOptions"))]
pub struct PodLogOptions {
    /// Name of the container. Optional when the pod has only one.
    #[field(proto = 1)]
    pub container: String,
    /// True to stream new log lines as they are written.
    #[field(proto = 2)]
    pub follow: bool,
    /// True for the log of the previous instance of the container.
    #[field(proto = 3)]
    pub previous: bool,
    /// Maximum age of the log lines in seconds. Excludes sinceTime.
    #[field(proto = 4)]
    pub since_seconds: Option<i64>,
    /// Time of the oldest log line. Excludes sinceSeconds.
    #[field(proto = 5)]
    pub since_time: Option<Time>,
    /// True to prefix each line with its timestamp.
    #[field(proto = 6)]
    pub timestamps: bool,
    /// Maximum number of lines, counted from the end. No limit when absent.
    #[field(proto = 7)]
    pub tail_lines: Option<i64>,
    /// Maximum number of bytes. No limit when absent.
    #[field(proto = 8)]
    pub limit_bytes: Option<i64>,
    /// True to skip the verification of the kubelet's certificate.
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
    /// True to forward data of the client to the standard input of the process.
    #[field(proto = 1)]
    pub stdin: bool,
    /// True to forward the standard output of the process to the client.
    #[field(proto = 2)]
    pub stdout: bool,
    /// True to forward the standard error of the process to the client. Not with a terminal, which has only one stream.
    #[field(proto = 3)]
    pub stderr: bool,
    /// True to allocate a terminal for the process.
    #[field(proto = 4)]
    pub tty: bool,
    /// Name of the container. Optional when the pod has only one.
    #[field(proto = 5)]
    pub container: String,
    /// Command and its arguments, executed without a shell.
    #[field(proto = 6, keep, list_type = atomic)]
    pub command: Vec<String>,
}

/// Streams of a container's process to connect to.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1", "PodAttachOptions"))]
pub struct PodAttachOptions {
    /// True to forward data of the client to the standard input of the process.
    #[field(proto = 1)]
    pub stdin: bool,
    /// True to forward the standard output of the process to the client.
    #[field(proto = 2)]
    pub stdout: bool,
    /// True to forward the standard error of the process to the client. Not with a terminal, which has only one stream.
    #[field(proto = 3)]
    pub stderr: bool,
    /// True if the process has a terminal.
    #[field(proto = 4)]
    pub tty: bool,
    /// Name of the container. Optional when the pod has only one.
    #[field(proto = 5)]
    pub container: String,
}

/// Ports of a pod to connect to.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1", "PodPortForwardOptions"))]
pub struct PodPortForwardOptions {
    /// Port numbers. Required for WebSocket connections only.
    #[field(proto = 1, list_type = atomic)]
    pub ports: Vec<i32>,
}

/// Destination of a proxied request within a pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1", "PodProxyOptions"))]
pub struct PodProxyOptions {
    /// Path and query of the request to the pod.
    #[field(proto = 1)]
    pub path: String,
}

/// Destination of a proxied request within a node.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1", "NodeProxyOptions"))]
pub struct NodeProxyOptions {
    /// Path and query of the request to the node.
    #[field(proto = 1)]
    pub path: String,
}

/// Destination of a proxied request within a service.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1", "ServiceProxyOptions"))]
pub struct ServiceProxyOptions {
    /// Path and query of the request to the service.
    #[field(proto = 1)]
    pub path: String,
}
