//! The file that says over which proxies the server connects to others.

mod configuration;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow};
use clap::Args;
use http::Uri;
use planesmith_server::metrics::EgressMetrics;
use planesmith_server::proxy::{
    ClientIdentity, Destination, Dialer, EgressProxy, NameResolver, Pem, ProxyServer, Trust, client_tls_to,
};

use self::configuration::{
    DIRECT, EgressConnection, EgressSelectorConfiguration, GRPC, TcpTransport, TlsConfig, Transport,
};
use crate::outbound::Outbound;

/// The flag about connections to other servers.
#[derive(Args, Clone, Debug)]
pub struct EgressSelectorOptions {
    /// File that selects how the server connects to nodes, services, webhooks and etcd (an EgressSelectorConfiguration): directly, or
    /// through a proxy that speaks HTTP CONNECT or konnectivity's gRPC.
    #[arg(long, value_name = "FILE")]
    pub egress_selector_config_file: Option<PathBuf>,
}

impl EgressSelectorOptions {
    /// Checks the file.
    pub(super) fn check(&self) -> Result<(), String> {
        self.configuration().map(drop)
    }

    /// Returns the connections of a server that follow from the file. Certificates are read now; changes of their files have no
    /// effect.
    ///
    /// # Errors
    ///
    /// The file or a certificate cannot be used.
    pub(crate) fn outbound(&self) -> Result<Outbound> {
        let configuration = self.configuration().map_err(anyhow::Error::msg)?;
        let (resolver, metrics) = (NameResolver::default(), Arc::<EgressMetrics>::default());
        let Some(configuration) = configuration.filter(|file| !file.egress_selections.is_empty()) else {
            return Ok(Outbound::selecting(&resolver, None, metrics));
        };
        let mut dialers = BTreeMap::new();
        for selection in &configuration.egress_selections {
            let network = selection.network().context("a selection has an unknown name")?;
            let server = selection.connection.server();
            let server = server.with_context(|| {
                let name = network.name();
                format!("--egress-selector-config-file: failed to create dialer for egressSelection {name:?}")
            })?;
            let dialer = match server {
                None => Dialer::direct(&resolver),
                Some(server) => Dialer::through(EgressProxy::new(server, &resolver, &metrics), &resolver),
            };
            dialers.insert(network, dialer);
        }
        Ok(Outbound::selecting(&resolver, Some(dialers), metrics))
    }

    /// Reads the file; `None` without one.
    fn configuration(&self) -> Result<Option<EgressSelectorConfiguration>, String> {
        let Some(file) = &self.egress_selector_config_file else {
            return Ok(None);
        };
        let content = fs::read(file).map_err(|error| {
            let file = file.display();
            format!("--egress-selector-config-file is {file}, which cannot be read: {error}")
        })?;
        let configuration = EgressSelectorConfiguration::parse(&content);
        configuration
            .map(Some)
            .map_err(|problem| format!("--egress-selector-config-file {}: {problem}", file.display()))
    }
}

impl EgressConnection {
    /// The proxy of connections; `None` for direct ones.
    fn server(&self) -> Result<Option<ProxyServer>> {
        let socket = |name: &str| PathBuf::from(name);
        Ok(match (self.proxy_protocol.as_str(), &self.transport) {
            (DIRECT, _) | (_, None) => None,
            (GRPC, Some(Transport { uds: Some(uds), .. })) => Some(ProxyServer::Konnectivity(socket(&uds.uds_name))),
            (_, Some(Transport { uds: Some(uds), .. })) => Some(ProxyServer::HttpSocket(socket(&uds.uds_name))),
            (_, Some(Transport { tcp: Some(tcp), .. })) => Some(tcp.server()?),
            (_, Some(_)) => None,
        })
    }
}

impl TcpTransport {
    fn server(&self) -> Result<ProxyServer> {
        let invalid = || anyhow!("invalid proxy server url {:?}; expected a host and a port", self.url);
        let url: Uri = self.url.parse().map_err(|_| invalid())?;
        let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
        let port = url.port_u16().filter(|_| !host.is_empty()).ok_or_else(invalid)?;
        let destination = Destination::unrestricted(host, port);
        Ok(match &self.tls_config {
            None => ProxyServer::Http(destination),
            Some(tls) => tls.server(destination)?,
        })
    }
}

impl TlsConfig {
    fn server(&self, destination: Destination) -> Result<ProxyServer> {
        let (certificate, key) = (&self.client_cert, &self.client_key);
        let unreadable = || format!("failed to read key pair {certificate} & {key}");
        let text = |file: &str| fs::read(file).map(Pem::Text);
        let identity = ClientIdentity {
            certificate: text(certificate).with_context(unreadable)?,
            key: text(key).with_context(unreadable)?,
        };
        let trust = match self.ca_bundle.as_str() {
            "" => Trust::System,
            file => Trust::File(Path::new(file)),
        };
        let tls = client_tls_to(trust, Some(&identity)).context("the TLS settings cannot be used")?;
        Ok(ProxyServer::Https {
            destination,
            tls,
            name: Some(self.tls_server_name.clone()).filter(|name| !name.is_empty()),
        })
    }
}

#[cfg(test)]
mod tests;
