//! The file that selects the connections to other servers: its fields, and its rules.

use std::path::Path;

use planesmith_machinery::configuration_file::{self, or_default};
use planesmith_machinery::field_error::FieldErrors;
use serde::Deserialize;

use crate::outbound::Network;

/// Versions of the file that are accepted; they have the same fields.
const VERSIONS: [&str; 2] = ["apiserver.k8s.io/v1beta1", "apiserver.k8s.io/v1alpha1"];

/// The networks that a selection can be for.
const NETWORKS: [Network; 3] = [Network::Cluster, Network::ControlPlane, Network::Etcd];

/// The protocol without a proxy, that of HTTP proxies, and that of konnectivity servers.
pub(super) const DIRECT: &str = "Direct";
pub(super) const HTTP_CONNECT: &str = "HTTPConnect";
pub(super) const GRPC: &str = "GRPC";

/// The path of all fields in messages, as kube-apiserver has it.
const CONNECTION: &str = "service.connection";

/// An `EgressSelectorConfiguration`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct EgressSelectorConfiguration {
    #[serde(deserialize_with = "or_default")]
    pub(super) egress_selections: Vec<EgressSelection>,
}

/// The connections to one network.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct EgressSelection {
    #[serde(deserialize_with = "or_default")]
    pub(super) name: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) connection: EgressConnection,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct EgressConnection {
    #[serde(deserialize_with = "or_default")]
    pub(super) proxy_protocol: String,
    pub(super) transport: Option<Transport>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Transport {
    pub(super) tcp: Option<TcpTransport>,
    pub(super) uds: Option<UdsTransport>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct TcpTransport {
    #[serde(deserialize_with = "or_default")]
    pub(super) url: String,
    pub(super) tls_config: Option<TlsConfig>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct UdsTransport {
    #[serde(deserialize_with = "or_default")]
    pub(super) uds_name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct TlsConfig {
    #[serde(deserialize_with = "or_default")]
    pub(super) ca_bundle: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) client_key: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) client_cert: String,
    #[serde(deserialize_with = "or_default")]
    pub(super) tls_server_name: String,
}

impl EgressSelectorConfiguration {
    /// Reads and checks the content of a file.
    ///
    /// # Errors
    ///
    /// All problems of the file, in the words of kube-apiserver.
    pub(super) fn parse(content: &[u8]) -> Result<Self, String> {
        let parsed = configuration_file::parse(content, "EgressSelectorConfiguration", &VERSIONS);
        let configuration: Self = parsed.map_err(|error| format!("failed to read egress selector config: {error}"))?;
        let mut errors = FieldErrors::default();
        let selections = &configuration.egress_selections;
        for selection in selections {
            selection.connection.check(&mut errors.at(CONNECTION));
        }
        check_names(selections, &mut errors);
        match errors.joined() {
            None => Ok(configuration),
            Some(problems) => Err(format!("failed to validate egress selector configuration: {problems}")),
        }
    }
}

impl EgressSelection {
    /// The network; `None` for an unknown name.
    pub(super) fn network(&self) -> Option<Network> {
        NETWORKS
            .into_iter()
            .find(|network| network.name().eq_ignore_ascii_case(&self.name))
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
        } else if !NETWORKS.iter().any(|network| network.name() == name) {
            errors.not_supported(CONNECTION, name, &NETWORKS.map(Network::name));
        }
    }
}

impl EgressConnection {
    fn check(&self, errors: &mut FieldErrors) {
        match (self.proxy_protocol.as_str(), &self.transport) {
            (DIRECT, None) => {}
            (DIRECT, Some(_)) => errors.invalid("transport", "direct", "config must be absent for direct connect"),
            (HTTP_CONNECT, None) => errors.required("transport", "transport must be set for HTTPConnect"),
            (HTTP_CONNECT, Some(transport)) => transport.check_of_http(errors),
            (GRPC, None) => errors.required("transport", "transport must be set for GRPC"),
            (GRPC, Some(transport)) => match &transport.uds {
                Some(uds) => uds.check(errors),
                None => errors.required("uds", "UDS must be set with GRPC"),
            },
            (protocol, _) => errors.not_supported("protocol", protocol, &[DIRECT, GRPC, HTTP_CONNECT]),
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
        EgressSelectorConfiguration::parse(format!("{file}[{selections}]}}").as_bytes()).map(drop)
    }

    #[test]
    fn direct_connections_are_accepted() {
        let direct = |name: &str| format!(r#"{{"name": "{name}", "connection": {{"proxyProtocol": "Direct"}}}}"#);
        let all = NETWORKS.map(|network| direct(network.name())).join(", ");
        assert_eq!(checked(&all), Ok(()));
        assert_eq!(checked(""), Ok(()));
    }

    #[test]
    fn names_are_case_insensitive() {
        let selection = |name: &str| EgressSelection {
            name: name.to_owned(),
            ..EgressSelection::default()
        };
        assert_eq!(selection("ControlPlane").network(), Some(Network::ControlPlane));
        assert_eq!(selection("pods").network(), None);
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
