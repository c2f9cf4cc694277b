//! The addresses of kubelets.

use std::sync::Arc;

use planesmith_api_defs::core::v1::{Node, Pod};
use planesmith_machinery::object::Resource as _;
use planesmith_machinery::status::{ApiError, ApiResult, Reason};
use planesmith_server::proxy::{ClientIdentity, Destination, Dialer, Link, Target, TrustError, client_tls};

use super::stored::Stored;
use crate::options::KubeletOptions;

/// The kubelet of a node.
pub(super) struct Kubelet {
    /// Its address, without a path.
    pub(super) target: Target,
    /// The features that its node declares.
    pub(super) features: Vec<String>,
}

/// Finds kubelets and connects to them.
pub(super) struct Kubelets {
    objects: Arc<Stored>,
    preferred: Vec<String>,
    default_port: u16,
    link: Link,
    /// The client that does not verify certificates.
    trusting: Link,
}

impl Kubelets {
    pub(super) fn new(flags: &KubeletOptions, objects: Arc<Stored>, dialer: &Dialer) -> Result<Self, TrustError> {
        let files = flags
            .kubelet_client_certificate
            .clone()
            .zip(flags.kubelet_client_key.clone());
        let identity = files.map(|(certificate, key)| ClientIdentity {
            certificate: certificate.into(),
            key: key.into(),
        });
        let link = |authority| {
            Ok::<_, TrustError>(Link::new(
                client_tls(authority, identity.as_ref())?,
                flags.kubelet_timeout,
                dialer,
            ))
        };
        Ok(Self {
            objects,
            preferred: flags.kubelet_preferred_address_types.clone(),
            default_port: flags.kubelet_port,
            link: link(flags.kubelet_certificate_authority.as_deref())?,
            trusting: link(None)?,
        })
    }

    /// The client for kubelets.
    pub(super) fn link(&self) -> &Link {
        &self.link
    }

    /// The client for kubelets that does not verify certificates, for requests that ask for that.
    pub(super) fn trusting_link(&self) -> &Link {
        &self.trusting
    }

    /// Returns the kubelet of a node, for requests about its pods: kube-apiserver sends those to loopback, too,
    /// because their paths are not the client's.
    ///
    /// # Errors
    ///
    /// Those of [`Kubelets::find`], but the 404 is about a pod of the node's name: kube-apiserver names the resource of the
    /// request.
    pub(super) fn find_for_pod(&self, node: &str) -> ApiResult<Kubelet> {
        let node: Node = self.objects.get("", node).map_err(|error| match error.reason() {
            Some(Reason::NotFound) => ApiError::not_found(&Pod::RESOURCE.group_resource(), node),
            _ => error,
        })?;
        let target = self.target(&node)?;
        let destination = target.destination.or_loopback();
        Ok(Kubelet {
            target: Target { destination, ..target },
            features: node.status.declared_features,
        })
    }

    /// Returns the kubelet of a node.
    ///
    /// # Errors
    ///
    /// 404 if there is no such node, 500 if it has no usable address.
    pub(super) fn find(&self, node: &str) -> ApiResult<Target> {
        self.target(&self.objects.get("", node)?)
    }

    fn target(&self, node: &Node) -> ApiResult<Target> {
        let addresses = &node.status.addresses;
        let found = self
            .preferred
            .iter()
            .find_map(|wanted| addresses.iter().find(|address| address.type_ == *wanted));
        let Some(found) = found else {
            let known: Vec<String> = addresses
                .iter()
                .map(|address| format!("{{{} {}}}", address.type_, address.address))
                .collect();
            let message = format!("no preferred addresses found; known addresses: [{}]", known.join(" "));
            return Err(ApiError::unnamed(500, message));
        };
        let port = u16::try_from(node.status.daemon_endpoints.kubelet_endpoint.port).unwrap_or(0);
        Ok(Target {
            secure: true,
            destination: Destination::of_object(&found.address, if port == 0 { self.default_port } else { port }),
            path: String::new(),
            query: String::new(),
        })
    }
}
