//! Namespaces of the server in front.

use http::Method;
use planesmith_access::admission::{NamespacePhase, Namespaces};

use super::Host;
use crate::objects::text;

/// Knows the namespaces of this server, and those of the one in front of it.
pub(crate) struct HostNamespaces<N> {
    own: N,
    host: Host,
}

impl<N: Namespaces> HostNamespaces<N> {
    /// Asks `host` for namespaces that are not among `own`.
    pub(crate) fn new(own: N, host: Host) -> Self {
        Self { own, host }
    }
}

impl<N: Namespaces> Namespaces for HostNamespaces<N> {
    fn phase(&self, name: &str) -> Option<NamespacePhase> {
        if let Some(phase) = self.own.phase(name) {
            return Some(phase);
        }
        // Not remembered: nothing may be made in a namespace that has just begun to go.
        let path = format!("/api/v1/namespaces/{name}");
        match self.host.send_now(Method::GET, &path, None) {
            Ok(namespace) if text(&namespace, "/status/phase") == "Terminating" => Some(NamespacePhase::Terminating),
            Ok(_) => Some(NamespacePhase::Active),
            Err(error) => {
                tracing::debug!(name, error, "the server in front does not tell of a namespace");
                None
            }
        }
    }
}
