//! The file that says over which proxies the server connects to others. Direct connections are the only ones that it makes.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use planesmith_machinery::configuration_file::{self, or_default};
use planesmith_machinery::field_error::FieldErrors;
use serde::Deserialize;

/// Versions of the file that are accepted; they have the same fields.
const VERSIONS: [&str; 2] = ["apiserver.k8s.io/v1beta1", "apiserver.k8s.io/v1alpha1"];

/// The destinations that a selection can be for.
const NAMES: [&str; 3] = ["cluster", "controlplane", "etcd"];

/// The protocol without a proxy.
const DIRECT: &str = "Direct";

/// The path of all fields in messages, as kube-apiserver has it.
const CONNECTION: &str = "service.connection";

/// The flag about connections to other servers.
#[derive(Args, Clone, Debug)]
pub struct EgressSelectorOptions {
    /// File that selects how the server connects to nodes, services, webhooks and etcd (an EgressSelectorConfiguration). Only direct
    /// connections are supported: other protocols than Direct are refused.
    #[arg(long, value_name = "FILE")]
    pub egress_selector_config_file: Option<PathBuf>,
}

/// An `EgressSelectorConfiguration`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct EgressSelectorConfiguration {
    #[serde(deserialize_with = "or_default")]
    egress_selections: Vec<EgressSelection>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct EgressSelection {
    #[serde(deserialize_with = "or_default")]
    name: String,
    #[serde(deserialize_with = "or_default")]
    connection: EgressConnection,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct EgressConnection {
    #[serde(deserialize_with = "or_default")]
    proxy_protocol: String,
    transport: Option<Transport>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Transport {
    tcp: Option<TcpTransport>,
    uds: Option<UdsTransport>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct TcpTransport {
    #[serde(deserialize_with = "or_default")]
    url: String,
    tls_config: Option<TlsConfig>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct UdsTransport {
    #[serde(deserialize_with = "or_default")]
    uds_name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct TlsConfig {
    #[serde(deserialize_with = "or_default")]
    ca_bundle: String,
    #[serde(deserialize_with = "or_default")]
    client_key: String,
    #[serde(deserialize_with = "or_default")]
    client_cert: String,
    #[serde(rename = "tlsServerName", deserialize_with = "or_default")]
    _tls_server_name: String,
}

impl EgressSelectorOptions {
    /// Checks the file.
    pub(super) fn check(&self) -> Result<(), String> {
        let Some(file) = &self.egress_selector_config_file else {
            return Ok(());
        };
        let content = fs::read(file).map_err(|error| {
            let file = file.display();
            format!("--egress-selector-config-file is {file}, which cannot be read: {error}")
        })?;
        check(&content).map_err(|problem| format!("--egress-selector-config-file {}: {problem}", file.display()))
    }
}

fn check(content: &[u8]) -> Result<(), String> {
    let parsed = configuration_file::parse(content, "EgressSelectorConfiguration", &VERSIONS);
    let configuration: EgressSelectorConfiguration =
        parsed.map_err(|error| format!("failed to read egress selector config: {error}"))?;
    let mut errors = FieldErrors::default();
    let selections = &configuration.egress_selections;
    for selection in selections {
        selection.connection.check(&mut errors.at(CONNECTION));
    }
    check_names(selections, &mut errors);
    if let Some(problems) = errors.joined() {
        return Err(format!("failed to validate egress selector configuration: {problems}"));
    }
    match selections
        .iter()
        .find(|selection| selection.connection.proxy_protocol != DIRECT)
    {
        None => Ok(()),
        Some(EgressSelection { name, connection }) => Err(format!(
            "the connection of {name} has the protocol {}, which is not supported; expected {DIRECT}",
            connection.proxy_protocol
        )),
    }
}

fn check_names(selections: &[EgressSelection], errors: &mut FieldErrors) {
    let names: Vec<String> = selections
        .iter()
        .map(|selection| selection.name.to_lowercase())
        .collect();
    for (index, name) in names.iter().enumerate() {
        if names[..index].contains(name) {
            errors.duplicate(&format!("{CONNECTION}[{index}]"), name);
        } else if !NAMES.contains(&name.as_str()) {
            errors.not_supported(CONNECTION, name, &NAMES);
        }
    }
}

impl EgressConnection {
    fn check(&self, errors: &mut FieldErrors) {
        match (self.proxy_protocol.as_str(), &self.transport) {
            (DIRECT, None) => {}
            (DIRECT, Some(_)) => errors.invalid("transport", "direct", "config must be absent for direct connect"),
            ("HTTPConnect", None) => errors.required("transport", "transport must be set for HTTPConnect"),
            ("HTTPConnect", Some(transport)) => transport.check_of_http(errors),
            ("GRPC", None) => errors.required("transport", "transport must be set for GRPC"),
            ("GRPC", Some(transport)) => match &transport.uds {
                Some(uds) => uds.check(errors),
                None => errors.required("uds", "UDS must be set with GRPC"),
            },
            (protocol, _) => errors.not_supported("protocol", protocol, &[DIRECT, "GRPC", "HTTPConnect"]),
        }
    }
}

impl Transport {
    fn check_of_http(&self, errors: &mut FieldErrors) {
        match (&self.tcp, &self.uds) {
            (Some(tcp), Some(_)) => errors.invalid("tcp", tcp.url.as_str(), "TCP and UDS cannot both be set"),
            (None, None) => errors.required("tcp", "One of TCP or UDS must be set"),
            (Some(tcp), None) => tcp.check(errors),
            (None, Some(uds)) => uds.check(errors),
        }
    }
}

impl UdsTransport {
    fn check(&self, errors: &mut FieldErrors) {
        if self.uds_name.is_empty() {
            errors.invalid("udsName", "nil", "must be present for UDS connections");
        }
    }
}

impl TcpTransport {
    fn check(&self, errors: &mut FieldErrors) {
        if self.url.starts_with("http://") {
            if self.tls_config.is_some() {
                errors.invalid("tlsConfig", "nil", "config must not be present when using HTTP");
            }
        } else if self.url.starts_with("https://") {
            match &self.tls_config {
                None => errors.required("tlsConfig", "TLSConfig must be present when using HTTPS"),
                Some(tls) => tls.check(&mut errors.at("tlsConfig")),
            }
        } else {
            let detail = "supported connection protocols are http:// and https://";
            errors.invalid("url", self.url.as_str(), detail);
        }
    }
}

impl TlsConfig {
    fn check(&self, errors: &mut FieldErrors) {
        if !self.ca_bundle.is_empty() && !Path::new(&self.ca_bundle).exists() {
            errors.invalid(
                "caBundle",
                self.ca_bundle.as_str(),
                "TLS config ca bundle does not exist",
            );
        }
        for (field, file, missing, absent) in [
            (
                "clientCert",
                &self.client_cert,
                "Using TLS requires clientCert",
                "TLS client cert does not exist",
            ),
            (
                "clientKey",
                &self.client_key,
                "Using TLS requires requires clientKey",
                "TLS client key does not exist",
            ),
        ] {
            if file.is_empty() {
                errors.invalid(field, "nil", missing);
            } else if !Path::new(file).exists() {
                errors.invalid(field, file.as_str(), absent);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a file with these selections, in the notation of JSON.
    fn checked(selections: &str) -> Result<(), String> {
        let file =
            r#"{"apiVersion": "apiserver.k8s.io/v1beta1", "kind": "EgressSelectorConfiguration", "egressSelections": "#;
        check(format!("{file}[{selections}]}}").as_bytes())
    }

    #[test]
    fn direct_connections_are_accepted() {
        let direct = |name: &str| format!(r#"{{"name": "{name}", "connection": {{"proxyProtocol": "Direct"}}}}"#);
        let all = NAMES.map(direct).join(", ");
        assert_eq!(checked(&all), Ok(()));
        assert_eq!(checked(""), Ok(()));
    }

    #[test]
    fn connections_over_proxies_are_refused() {
        let over_proxy = r#"{"name": "cluster", "connection":
            {"proxyProtocol": "HTTPConnect", "transport": {"tcp": {"url": "http://192.0.2.1:8131"}}}}"#;
        let expected =
            "the connection of cluster has the protocol HTTPConnect, which is not supported; expected Direct";
        assert_eq!(checked(over_proxy), Err(expected.to_owned()));
    }

    #[test]
    fn invalid_files_are_refused_as_by_kube_apiserver() {
        for (connection, problem) in [
            (
                r#""proxyProtocol": "SOCKS""#,
                r#"service.connection.protocol: Unsupported value: "SOCKS": supported values: "Direct", "GRPC", "HTTPConnect""#,
            ),
            (
                r#""proxyProtocol": "Direct", "transport": {}"#,
                r#"service.connection.transport: Invalid value: "direct": config must be absent for direct connect"#,
            ),
            (
                r#""proxyProtocol": "HTTPConnect""#,
                "service.connection.transport: Required value: transport must be set for HTTPConnect",
            ),
            (
                r#""proxyProtocol": "GRPC", "transport": {"tcp": {"url": "http://192.0.2.1"}}"#,
                "service.connection.uds: Required value: UDS must be set with GRPC",
            ),
            (
                r#""proxyProtocol": "HTTPConnect", "transport": {"tcp": {"url": "ftp://192.0.2.1"}}"#,
                r#"service.connection.url: Invalid value: "ftp://192.0.2.1": supported connection protocols are http:// and https://"#,
            ),
            (
                r#""proxyProtocol": "HTTPConnect", "transport": {"tcp": {"url": "https://192.0.2.1", "tlsConfig": {"clientKey": "/dev"}}}"#,
                r#"service.connection.tlsConfig.clientCert: Invalid value: "nil": Using TLS requires clientCert"#,
            ),
        ] {
            let selection = format!(r#"{{"name": "etcd", "connection": {{{connection}}}}}"#);
            let expected = format!("failed to validate egress selector configuration: {problem}");
            assert_eq!(checked(&selection), Err(expected));
        }
        let twice = r#"{"name": "etcd", "connection": {"proxyProtocol": "Direct"}}"#;
        let problem = checked(&format!("{twice}, {twice}")).unwrap_err();
        assert!(
            problem.ends_with(r#"service.connection[1]: Duplicate value: "etcd""#),
            "{problem}"
        );
        let unknown = checked(&twice.replace("etcd", "pods")).unwrap_err();
        assert!(
            unknown.ends_with(r#"Unsupported value: "pods": supported values: "cluster", "controlplane", "etcd""#),
            "{unknown}"
        );
        let unread = checked(r#"{"name": "etcd", "proxy": {}}"#).unwrap_err();
        assert!(
            unread.starts_with("failed to read egress selector config: "),
            "{unread}"
        );
    }
}
