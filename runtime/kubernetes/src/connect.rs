//! Connections to the targets of objects: logs and streams of pods, proxies to pods, services and nodes.
//!
//! Reading order: [`kubelets`] (addresses of kubelets), [`container`] (the container of a pod), then the
//! subresources.

mod address;
mod container;
mod kubelets;
mod log;
mod node_proxy;
mod parameters;
mod pod_proxy;
mod service_proxy;
mod stored;
mod streams;

use std::sync::Arc;
use std::time::Duration;

use planesmith_server::discovery::{ServedKind, ServedSubresource};
use planesmith_server::proxy::{Link, NameResolver, TrustError, client_tls};
use planesmith_server::request::Verb;
use planesmith_server::stores::Stores;

use self::kubelets::Kubelets;
use self::log::Logs;
use self::node_proxy::NodeProxy;
use self::pod_proxy::PodProxy;
use self::service_proxy::ServiceProxy;
use self::stored::Stored;
use self::streams::{Stream, Streams};
use crate::options::KubeletOptions;

/// The longest time connecting to a pod may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Registers the handlers of connections. To be called before the kinds are installed.
///
/// # Errors
///
/// When the certificates for connections to kubelets cannot be used.
pub(crate) fn handle_subresources(
    stores: &Stores,
    flags: &KubeletOptions,
    resolver: &NameResolver,
) -> Result<(), TrustError> {
    let objects = Arc::new(Stored::new(stores));
    let kubelets = Arc::new(Kubelets::new(flags, Arc::clone(&objects), resolver)?);
    let link = Link::new(client_tls(None, None)?, CONNECT_TIMEOUT, resolver);
    let pod = |name, handler| stores.handle("", "pods", name, handler);
    pod("log", Arc::new(Logs::new(Arc::clone(&objects), Arc::clone(&kubelets))));
    for stream in [Stream::Exec, Stream::Attach, Stream::PortForward] {
        let streams = Streams::new(stream, Arc::clone(&objects), Arc::clone(&kubelets));
        pod(stream.name(), Arc::new(streams));
    }
    pod("proxy", Arc::new(PodProxy::new(Arc::clone(&objects), link.clone())));
    stores.handle(
        "",
        "services",
        "proxy",
        Arc::new(ServiceProxy::new(objects, link.clone())),
    );
    stores.handle("", "nodes", "proxy", Arc::new(NodeProxy::new(kubelets, link)));
    Ok(())
}

/// The discovery entry of a connection whose parameters are of the kind `kind`.
fn served(name: &'static str, kind: &'static str, verbs: Vec<Verb>, open_ended: bool) -> ServedSubresource {
    ServedSubresource {
        name: name.into(),
        kind: Some(ServedKind {
            group: "".into(),
            version: "".into(),
            kind: kind.into(),
        }),
        verbs,
        open_ended,
    }
}

/// The discovery entry of a proxy subresource.
fn served_proxy(kind: &'static str) -> ServedSubresource {
    let verbs = vec![Verb::Create, Verb::Delete, Verb::Get, Verb::Patch, Verb::Update];
    served("proxy", kind, verbs, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The defaults of the flags about kubelets.
    pub(super) fn kubelet_options() -> KubeletOptions {
        let preferred = ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"];
        KubeletOptions {
            kubelet_client_certificate: None,
            kubelet_client_key: None,
            kubelet_certificate_authority: None,
            kubelet_preferred_address_types: preferred.map(str::to_owned).to_vec(),
            kubelet_timeout: Duration::from_secs(5),
            kubelet_port: 10250,
        }
    }
}
