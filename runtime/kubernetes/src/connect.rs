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

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use planesmith_server::discovery::{ServedKind, ServedSubresource};
use planesmith_server::endpoint::Call;
use planesmith_server::proxy::{Dialer, Link, TrustError, client_tls, rest_of_path, shortest_segments};
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

/// Characters that are percent-encoded in a path.
const ENCODED_IN_PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The longest time connecting to a pod may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Registers the handlers of connections. To be called before the kinds are installed.
///
/// # Errors
///
/// When the certificates for connections to kubelets cannot be used.
pub(crate) fn handle_subresources(stores: &Stores, flags: &KubeletOptions, dialer: &Dialer) -> Result<(), TrustError> {
    let objects = Arc::new(Stored::new(stores));
    let kubelets = Arc::new(Kubelets::new(flags, Arc::clone(&objects), dialer)?);
    let link = Link::new(client_tls(None, None)?, CONNECT_TIMEOUT, dialer);
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

/// The decoded path in the options of a proxy.
fn requested_path(call: &Call) -> String {
    let path = rest_of_path(&call.parts);
    percent_decode_str(&path).decode_utf8_lossy().into_owned()
}

/// The encoded path of a request at the target of a proxy: that of the client's request, unless a plugin has changed the path of
/// the options to `path`.
fn path_to_target(call: &Call, path: &str) -> String {
    match path == requested_path(call) {
        true => rest_of_path(&call.parts),
        false => encoded_path(path),
    }
}

/// Returns a path without `.`, `..` and empty segments, percent-encoded.
fn encoded_path(path: &str) -> String {
    let mut encoded = String::new();
    for segment in shortest_segments(path) {
        encoded.push('/');
        encoded.extend(utf8_percent_encode(segment, ENCODED_IN_PATH));
    }
    if path.ends_with('/') {
        encoded.push('/');
    }
    encoded
}

/// The discovery entry of a proxy subresource.
fn served_proxy(kind: &'static str) -> ServedSubresource {
    let verbs = vec![Verb::Create, Verb::Delete, Verb::Get, Verb::Patch, Verb::Update];
    served("proxy", kind, verbs, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_plugins_are_encoded() {
        for (path, encoded) in [
            ("", ""),
            ("/", "/"),
            ("a/../b c/", "/b%20c/"),
            ("/x//./y?z", "/x/y%3Fz"),
        ] {
            assert_eq!(encoded_path(path), encoded);
        }
    }

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
