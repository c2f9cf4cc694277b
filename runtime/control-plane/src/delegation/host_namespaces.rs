//! Namespaces of the server in front.

use http::Method;
use planesmith_access::admission::{NamespacePhase, Namespaces};
use planesmith_machinery::names;

use super::Host;
use crate::resource_client::text;

/// Finds namespaces of this server, and of the one in front of it.
pub(crate) struct HostNamespaces<N> {
    own: N,
    host: Host,
}

impl<N: Namespaces> HostNamespaces<N> {
    /// Creates the lookup, which requests namespaces from `host` that are not among `own`.
    pub(crate) fn new(own: N, host: Host) -> Self {
        Self { own, host }
    }
}

impl<N: Namespaces> Namespaces for HostNamespaces<N> {
    fn phase(&self, name: &str) -> Option<NamespacePhase> {
        if let Some(phase) = self.own.phase(name) {
            return Some(phase);
        }
        let path = path_of(name)?;
        // Not cached: no object may be created in a namespace whose deletion has just begun.
        match self.host.send_now(Method::GET, &path, None) {
            Ok(namespace) if text(&namespace, "/status/phase") == "Terminating" => Some(NamespacePhase::Terminating),
            Ok(_) => Some(NamespacePhase::Active),
            Err(error) => {
                tracing::debug!(
                    name,
                    error,
                    "the phase of a namespace cannot be read from the server in front"
                );
                None
            }
        }
    }
}

/// Returns the path of a namespace; `None` for an invalid name. The request is made with the server's own rights, so
/// a client must not be able to reach other paths by it.
fn path_of(name: &str) -> Option<String> {
    let is_name = names::dns_label(name).is_empty();
    is_name.then(|| format!("/api/v1/namespaces/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_namespaces_only() {
        assert_eq!(path_of("a-1").as_deref(), Some("/api/v1/namespaces/a-1"));
        for other in ["", "..", "kube-system/secrets/x", "a?watch=1", "a%2Fsecrets", "A"] {
            assert_eq!(path_of(other), None);
        }
    }
}
