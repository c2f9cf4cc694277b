//! Restricts the writes of nodes to their own objects and those of their pods.
//!
//! The authorizer of nodes (`node_authorizer`) decides by the path of a request, this plugin by the content of the objects.

mod node;
mod pod_certificates;
mod pods;
#[cfg(test)]
mod tests;
mod tokens;

use std::sync::Arc;

use planesmith_access::admission::{AdmissionFuture, Attributes, Lister, Objects, Operation, Phase, Plugin, decided};
use planesmith_access::authorization::Authorizer;
use planesmith_api_defs::certificates::v1::CertificateSigningRequest;
use planesmith_api_defs::resource::v1::ResourceSlice;
use planesmith_machinery::go_format::quote;
use planesmith_machinery::object::{Object, Resource};
use planesmith_machinery::status::ApiError;

use crate::certificate_requests::{Request as CertificateRequest, signers};

/// The namespace of the leases with which nodes report that they are alive.
const LEASES: &str = "kube-node-lease";

/// The signer of the serving certificates of kubelets.
const NODE_SERVING: &str = "kubernetes.io/kubelet-serving";

/// Refuses writes of nodes that other parts of the cluster must make.
pub(super) struct NodeRestriction {
    pub(super) objects: Arc<dyn Lister>,
    pub(super) authorizer: Arc<dyn Authorizer>,
    /// True if nodes may request tokens only for audiences that the pod uses.
    pub(super) restricts_audiences: bool,
    /// True if pods can have certificates.
    pub(super) has_pod_certificates: bool,
}

/// The reason that a write is refused.
#[derive(Debug)]
enum Refusal {
    /// 403 with this reason.
    Forbidden(String),
    /// Another error.
    Error(ApiError),
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        Self::Error(error)
    }
}

fn forbid<T>(why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Forbidden(why.into()))
}

/// A write of a node.
#[derive(Clone, Copy)]
struct Write<'a> {
    /// The name of the node.
    node: &'a str,
    attributes: &'a Attributes<'a>,
    new: Option<&'a dyn Object>,
    old: Option<&'a dyn Object>,
}

impl<'a> Write<'a> {
    /// Returns the new object if it is an `R`.
    fn new_as<R: Resource>(&self) -> Option<&'a R> {
        self.new?.downcast_ref()
    }

    /// Returns the stored object if it is an `R`.
    fn old_as<R: Resource>(&self) -> Option<&'a R> {
        self.old?.downcast_ref()
    }

    fn operation(&self) -> Operation {
        self.attributes.operation
    }

    /// Returns the operation as Go prints it with `%q`.
    fn quoted_operation(&self) -> String {
        quote(self.operation().as_str())
    }

    /// Returns the name of the object, that of a new one from its body.
    fn name(&self) -> &'a str {
        match (self.operation(), self.new) {
            (Operation::Create, Some(new)) => &new.meta().name,
            _ => self.attributes.name,
        }
    }
}

impl NodeRestriction {
    async fn check(&self, write: Write<'_>) -> Result<(), Refusal> {
        let resource = write.attributes.resource;
        match (&*resource.group, &*resource.plural, write.attributes.subresource) {
            ("", "pods", "") => self.check_pod(write),
            ("", "pods", "status") => pods::check_status(write),
            ("", "pods", "eviction") => self.check_eviction(write),
            ("", "pods", subresource) => forbid(format!(
                "unexpected pod subresource {}, only 'status' and 'eviction' are allowed",
                quote(subresource)
            )),
            ("", "nodes", _) => node::check(write),
            ("", "persistentvolumeclaims", "status") => pods::check_claim_status(write),
            ("", "persistentvolumeclaims", _) => forbid("may only update PVC status"),
            ("", "serviceaccounts", "token") => self.check_token(write).await,
            ("certificates.k8s.io", "podcertificaterequests", _) => self.check_pod_certificate(write),
            ("certificates.k8s.io", "certificatesigningrequests", _) => check_certificate_request(write),
            ("coordination.k8s.io", "leases", _) => check_lease(write),
            ("storage.k8s.io", "csinodes", _) if write.name() != write.node => {
                forbid("can only access CSINode with the same name as the requesting node")
            }
            ("resource.k8s.io", "resourceslices", _) => check_slice(write),
            _ => Ok(()),
        }
    }
}

fn check_lease(write: Write<'_>) -> Result<(), Refusal> {
    if write.attributes.namespace != LEASES {
        let namespace = quote(LEASES);
        return forbid(format!("can only access leases in the {namespace} system namespace"));
    }
    if write.name() != write.node {
        return forbid("can only access node lease with the same name as the requesting node");
    }
    Ok(())
}

/// Checks the node of a new slice, and of each slice that is deleted. The authorizer checks the others.
fn check_slice(write: Write<'_>) -> Result<(), Refusal> {
    let (slice, verb) = match write.operation() {
        Operation::Create => (write.new_as::<ResourceSlice>(), "create"),
        Operation::Delete => (write.old_as::<ResourceSlice>(), "delete"),
        Operation::Update | Operation::Connect => return Ok(()),
    };
    let node = slice.and_then(|slice| slice.spec.node_name.as_deref());
    if node != Some(write.node) {
        return forbid(format!(
            "can only {verb} ResourceSlice with the same NodeName as the requesting node"
        ));
    }
    Ok(())
}

/// Checks the subject of a request for a certificate of a kubelet. The signer checks the rest.
fn check_certificate_request(write: Write<'_>) -> Result<(), Refusal> {
    let new = write.new_as::<CertificateSigningRequest>();
    let Some(request) = new.filter(|_| write.operation() == Operation::Create) else {
        return Ok(());
    };
    if ![NODE_SERVING, signers::NODE_CLIENT].contains(&request.spec.signer_name.as_str()) {
        return Ok(());
    }
    let requested = match CertificateRequest::read(&request.spec.request) {
        Ok(requested) => requested,
        Err(why) => return forbid(format!("unable to parse csr: {why}")),
    };
    let name = format!("system:node:{}", write.node);
    if requested.user.common_name != name {
        return forbid(format!("can only create a node CSR with CN={name}"));
    }
    Ok(())
}

impl Plugin for NodeRestriction {
    fn name(&self) -> &'static str {
        "NodeRestriction"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation != Operation::Connect && phase == Phase::Mutating
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        let Some(node) = attributes.user.node_name() else {
            return decided(Ok(()));
        };
        let write = Write {
            node,
            attributes,
            new: objects.new.as_deref(),
            old: objects.old,
        };
        Box::pin(async move {
            let checked = match node {
                "" => forbid(format!(
                    "could not determine node from user {}",
                    quote(&attributes.user.name)
                )),
                _ => self.check(write).await,
            };
            checked.map_err(|refusal| match refusal {
                Refusal::Forbidden(why) => attributes.forbidden(write.new, why),
                Refusal::Error(error) => error,
            })
        })
    }
}
