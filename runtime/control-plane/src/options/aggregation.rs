//! Flags about servers behind this one, and in front of it.

use std::path::{Path, PathBuf};

use clap::{ArgAction, Args};

/// Flags about servers behind this one, and in front of it.
#[derive(Args, Clone, Debug)]
pub struct AggregationOptions {
    /// Client certificate, PEM, that this server shows to aggregated API servers when it forwards a request and names its
    /// user in headers; needs --proxy-client-key-file [default: one that the server creates].
    #[arg(long, value_name = "FILE", requires = "proxy_client_key_file")]
    pub proxy_client_cert_file: Option<PathBuf>,

    /// Key of that certificate, PEM; needs --proxy-client-cert-file.
    #[arg(long, value_name = "FILE", requires = "proxy_client_cert_file")]
    pub proxy_client_key_file: Option<PathBuf>,

    /// Route to aggregated API servers: true is the endpoints of their Service only, false its cluster address
    /// only, which needs kube-proxy on this machine [default: the endpoints if there are any, else the cluster address].
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    pub enable_aggregator_routing: Option<bool>,

    /// Answer 502 when a server behind this one redirects a client, instead of passing that on.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = true, value_name = "BOOL")]
    pub aggregator_reject_forwarding_redirect: bool,

    /// Certificate authorities, PEM, of front proxies: a client with such a certificate may name the user of a request in
    /// headers [default: the one that the server creates for itself].
    #[arg(long, value_name = "FILE")]
    pub requestheader_client_ca_file: Option<PathBuf>,

    /// Common names in certificates of front proxies that are accepted; without any, every certificate of their
    /// authorities is.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub requestheader_allowed_names: Vec<String>,

    /// Headers in which proxies name the user.
    #[arg(long, value_delimiter = ',', default_value = "X-Remote-User", value_name = "HEADERS")]
    pub requestheader_username_headers: Vec<String>,

    /// Headers in which proxies give the user's uid.
    #[arg(long, value_delimiter = ',', value_name = "HEADERS")]
    pub requestheader_uid_headers: Vec<String>,

    /// Headers in which proxies name the user's groups.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "X-Remote-Group",
        value_name = "HEADERS"
    )]
    pub requestheader_group_headers: Vec<String>,

    /// Prefixes of the headers in which proxies pass extra attributes of the user.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "X-Remote-Extra-",
        value_name = "PREFIXES"
    )]
    pub requestheader_extra_headers_prefix: Vec<String>,

    /// Kubeconfig of the API server in front of this one, which reviews bearer tokens. Its ConfigMap
    /// kube-system/extension-apiserver-authentication has the authorities to trust if --client-ca-file or
    /// --requestheader-client-ca-file is not set.
    #[arg(long, value_name = "FILE")]
    pub authentication_kubeconfig: Option<PathBuf>,

    /// Kubeconfig of the API server that has the namespaces, for a server behind another one [default:
    /// --authentication-kubeconfig].
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// Do not read the ConfigMap extension-apiserver-authentication of --authentication-kubeconfig: flags name the
    /// authorities to trust.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = false, value_name = "BOOL")]
    pub authentication_skip_lookup: bool,

    /// Start even if the ConfigMap extension-apiserver-authentication of --authentication-kubeconfig cannot be read.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = false, value_name = "BOOL")]
    pub authentication_tolerate_lookup_failure: bool,

    /// Kubeconfig of the server that authorizes requests, instead of --authorization-mode.
    #[arg(long, value_name = "FILE")]
    pub authorization_kubeconfig: Option<PathBuf>,

    /// Paths that every user may read, without a request to the server of --authorization-kubeconfig.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "/healthz,/readyz,/livez",
        value_name = "PATHS"
    )]
    pub authorization_always_allow_paths: Vec<String>,
}

impl AggregationOptions {
    /// Returns the kubeconfig of the server that has the namespaces, if this one does not.
    #[must_use]
    pub fn core_kubeconfig(&self) -> Option<&Path> {
        let kubeconfig = self.kubeconfig.as_ref().or(self.authentication_kubeconfig.as_ref());
        kubeconfig.map(PathBuf::as_path)
    }
}
