//! The authorizer of nodes: a node may read what its pods need, and write what a kubelet reports.
//!
//! Reading order: this file (the rules), [`static_rules`] (what all nodes may do), [`relations`] (the relations of nodes and
//! objects), [`graph`] and [`volumes`] (their index). Admission restricts the content of writes (`admission/node_restriction`).

mod graph;
mod relations;
mod static_rules;
#[cfg(test)]
mod tests;
mod volumes;

use std::sync::Arc;

use planesmith_access::admission::Lister;
use planesmith_access::authorization::{
    Attributes, AuthorizationOutcome, Authorizer, Decision, Rules, Selectors, Target,
};
use planesmith_access::user::UserInfo;
use planesmith_api_defs::core::v1::Pod;
use planesmith_machinery::go_format::quote;
use planesmith_machinery::object::Resource as _;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::selector::FieldQuery;
use planesmith_server::hooks::Hook;
use planesmith_store::Storage;

use self::graph::Referent;
use self::relations::Relations;

/// The namespace of the leases with which nodes report that they are alive.
pub(crate) const LEASES: &str = "kube-node-lease";

/// Authorizes the requests of nodes. It has no opinion about others.
#[derive(Clone, Debug)]
pub(crate) struct NodeAuthorizer {
    relations: Arc<Relations>,
    has_pod_certificates: bool,
    reads_trust_bundles: bool,
}

/// The reason that there is no permission; empty without one.
type Refusal = String;

/// A request of a node for a resource.
#[derive(Clone, Copy, Debug)]
struct Request<'a> {
    node: &'a str,
    verb: &'a str,
    subresource: &'a str,
    namespace: &'a str,
    name: &'a str,
    selectors: Selectors<'a>,
}

impl NodeAuthorizer {
    /// Returns the authorizer of nodes for the objects on `storage`, which `objects` reads; `None` for a server without pods.
    /// `feature` reports if a feature is on.
    pub(crate) fn new(
        storage: &Storage,
        scheme: &Scheme,
        objects: &Arc<dyn Lister>,
        feature: impl Fn(&str) -> bool,
    ) -> Option<Self> {
        scheme.iter().find(|facts| *facts == Pod::RESOURCE)?;
        Some(Self {
            relations: Arc::new(Relations::new(storage, scheme, objects)),
            has_pod_certificates: feature("PodCertificateRequest"),
            reads_trust_bundles: feature("ClusterTrustBundle") && feature("ClusterTrustBundleProjection"),
        })
    }

    /// Returns the hook that keeps the index of references up to date between requests of nodes.
    pub(crate) fn hook(&self) -> Hook {
        let relations = Arc::clone(&self.relations);
        Hook::new("start-node-authorizer", move |shutdown| async move {
            // Before the server is ready: kubelets that come back all at once must not wait for the index on its workers.
            let first = Arc::clone(&relations);
            if let Err(error) = tokio::task::spawn_blocking(move || first.refresh()).await {
                tracing::error!(%error, "the index of references of pods could not be built");
            }
            tokio::spawn(relations::follow(relations, shutdown));
            Ok(())
        })
    }

    fn decide(&self, node: &str, attributes: &Attributes<'_>) -> Result<(), Refusal> {
        let Target::Resource {
            group,
            resource,
            subresource,
            namespace,
            name,
            ..
        } = attributes.target
        else {
            return Err(Refusal::new());
        };
        let request = Request {
            node,
            verb: attributes.verb,
            subresource,
            namespace,
            name,
            selectors: attributes.selectors,
        };
        match (group, resource) {
            ("", "secrets") => self.read(Referent::Secret, &request),
            ("", "configmaps") => self.read(Referent::ConfigMap, &request),
            ("", "persistentvolumeclaims") if subresource == "status" => self.update_claim_status(&request),
            ("", "persistentvolumeclaims") => self.get_referent(Referent::VolumeClaim, &request),
            ("", "persistentvolumes") => request.get(|name| self.relations.mounts(node, name)),
            ("resource.k8s.io", "resourceclaims") => self.get_referent(Referent::ResourceClaim, &request),
            ("storage.k8s.io", "volumeattachments") => request.get(|name| self.relations.attaches(node, name)),
            ("", "serviceaccounts") => self.service_account(&request),
            ("coordination.k8s.io", "leases") => request.lease(),
            ("storage.k8s.io", "csinodes") => request.csi_node(),
            ("resource.k8s.io", "resourceslices") => self.resource_slice(&request),
            ("", "nodes") => request.node(),
            ("", "pods") => self.pod(&request),
            ("certificates.k8s.io", "podcertificaterequests") if self.has_pod_certificates => {
                self.pod_certificate_request(&request)
            }
            ("certificates.k8s.io", "clustertrustbundles") if self.reads_trust_bundles => {
                allow_if(subresource.is_empty() && matches!(request.verb, "get" | "list" | "watch"))
            }
            _ => allow_if(static_rules::allow(request.verb, group, resource, subresource)),
        }
    }

    /// Reads one object by its name, also with a list or a watch.
    fn read(&self, kind: Referent, request: &Request<'_>) -> Result<(), Refusal> {
        if !matches!(request.verb, "get" | "list" | "watch") {
            return refuse("can only read resources of this type");
        }
        if !request.subresource.is_empty() {
            return refuse("cannot read subresource");
        }
        if request.namespace.is_empty() {
            return refuse("can only read namespaced object of this type");
        }
        self.refers(kind, request)
    }

    fn refers(&self, kind: Referent, request: &Request<'_>) -> Result<(), Refusal> {
        request.related(|name| self.relations.refers(request.node, kind, request.namespace, name))
    }

    fn get_referent(&self, kind: Referent, request: &Request<'_>) -> Result<(), Refusal> {
        request.get(|name| self.relations.refers(request.node, kind, request.namespace, name))
    }

    fn update_claim_status(&self, request: &Request<'_>) -> Result<(), Refusal> {
        match request.verb {
            "update" | "patch" => self.refers(Referent::VolumeClaim, request),
            _ => refuse("can only get/update/patch this type"),
        }
    }

    fn service_account(&self, request: &Request<'_>) -> Result<(), Refusal> {
        if request.verb == "get" && request.subresource.is_empty() {
            return self.read(Referent::ServiceAccount, request);
        }
        if request.verb != "create" || request.name.is_empty() {
            return refuse("can only create tokens for individual service accounts");
        }
        if request.subresource != "token" {
            return refuse("can only create token subresource of serviceaccount");
        }
        self.refers(Referent::ServiceAccount, request)
    }

    fn resource_slice(&self, request: &Request<'_>) -> Result<(), Refusal> {
        if !request.subresource.is_empty() {
            return refuse("cannot authorize ResourceSlice subresources");
        }
        match request.verb {
            // Admission checks the node of the new slice.
            "create" => Ok(()),
            "get" | "update" | "patch" | "delete" => {
                request.related(|name| self.relations.has_devices(request.node, name))
            }
            "list" | "watch" | "deletecollection" if request.selects("spec.nodeName") => Ok(()),
            "list" | "watch" | "deletecollection" => {
                refuse("can only list/watch/deletecollection resourceslices with nodeName field selector")
            }
            _ => refuse(
                "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, \
                 deletecollection",
            ),
        }
    }

    fn pod(&self, request: &Request<'_>) -> Result<(), Refusal> {
        let runs = |name: &str| self.relations.runs(request.node, request.namespace, name);
        match (request.subresource, request.verb) {
            ("", "get") => request.related(runs),
            ("", "list" | "watch") if request.selects("spec.nodeName") => Ok(()),
            ("", "list" | "watch") if !request.name.is_empty() => request.related(runs),
            ("", "list" | "watch") => refuse("can only list/watch pods with spec.nodeName field selector"),
            // Admission allows only pods of the node, and only creates mirror pods.
            ("", "create" | "delete") | ("status", "update" | "patch") | ("eviction", "create") => Ok(()),
            _ => refuse(""),
        }
    }

    fn pod_certificate_request(&self, request: &Request<'_>) -> Result<(), Refusal> {
        if !request.subresource.is_empty() {
            return refuse("nodes may not access the status subresource of PodCertificateRequests");
        }
        match request.verb {
            // Admission checks the pod of the new request.
            "create" => Ok(()),
            "get" => request.related(|name| {
                let relations = &self.relations;
                relations.requests_certificate(request.node, request.namespace, name)
            }),
            "list" | "watch" if request.selects("spec.nodeName") => Ok(()),
            "list" | "watch" => refuse("can only list/watch podcertificaterequests with nodeName field selector"),
            verb => refuse(&format!("nodes may not {verb} podcertificaterequests")),
        }
    }
}

impl Request<'_> {
    /// Allows a request for one object that `is_related` to the node.
    fn related(&self, is_related: impl FnOnce(&str) -> bool) -> Result<(), Refusal> {
        if self.name.is_empty() {
            return refuse("No Object name found");
        }
        if is_related(self.name) {
            return Ok(());
        }
        let node = self.node;
        refuse(&format!("no relationship found between node '{node}' and this object"))
    }

    /// Allows to get one object that `is_related` to the node.
    fn get(&self, is_related: impl FnOnce(&str) -> bool) -> Result<(), Refusal> {
        if self.verb != "get" {
            return refuse("can only get individual resources of this type");
        }
        if !self.subresource.is_empty() {
            return refuse("cannot get subresource");
        }
        self.related(is_related)
    }

    /// True if the request is for objects whose `field` is the node.
    fn selects(&self, field: &str) -> bool {
        let query = FieldQuery::parse(self.selectors.field).unwrap_or_default();
        let mut terms = query.terms().iter();
        terms.any(|term| term.field == field && !term.negated && term.value == self.node)
    }

    fn lease(&self) -> Result<(), Refusal> {
        if !matches!(self.verb, "get" | "create" | "update" | "patch" | "delete") {
            return refuse("can only get, create, update, patch, or delete a node lease");
        }
        if self.namespace != LEASES {
            let namespace = quote(LEASES);
            return refuse(&format!("can only access leases in the {namespace} system namespace"));
        }
        // The name of a new lease is in its body, which admission checks.
        if self.verb != "create" && self.name != self.node {
            return refuse("can only access node lease with the same name as the requesting node");
        }
        Ok(())
    }

    fn csi_node(&self) -> Result<(), Refusal> {
        if !matches!(self.verb, "get" | "create" | "update" | "patch" | "delete") {
            return refuse("can only get, create, update, patch, or delete a CSINode");
        }
        if !self.subresource.is_empty() {
            return refuse("cannot authorize CSINode subresources");
        }
        if self.verb != "create" && self.name != self.node {
            return refuse("can only access CSINode with the same name as the requesting node");
        }
        Ok(())
    }

    fn node(&self) -> Result<(), Refusal> {
        match (self.subresource, self.verb) {
            // Admission allows only writes of the node itself.
            ("", "create" | "update" | "patch") | ("status", "update" | "patch") => Ok(()),
            ("", "get" | "list" | "watch") => {
                let (node, name) = (self.node, self.name);
                match name {
                    "" => refuse(&format!(
                        "node '{node}' cannot read all nodes, only its own Node object"
                    )),
                    name if name == node => Ok(()),
                    name => refuse(&format!("node '{node}' cannot read '{name}', only its own Node object")),
                }
            }
            _ => refuse(""),
        }
    }
}

fn refuse(reason: &str) -> Result<(), Refusal> {
    Err(reason.to_owned())
}

fn allow_if(allowed: bool) -> Result<(), Refusal> {
    if allowed { Ok(()) } else { refuse("") }
}

impl Authorizer for NodeAuthorizer {
    fn authorize(&self, attributes: &Attributes<'_>) -> AuthorizationOutcome {
        let Some(node) = attributes.user.node_name() else {
            return AuthorizationOutcome::NO_OPINION;
        };
        let decided = match node {
            "" => Err(format!("unknown node for user {}", quote(&attributes.user.name))),
            node => self.decide(node, attributes),
        };
        match decided {
            Ok(()) => AuthorizationOutcome::ALLOW,
            Err(reason) => Decision::NoOpinion(reason).into(),
        }
    }

    fn rules(&self, user: &UserInfo, _: &str) -> Rules {
        match user.node_name() {
            None => Rules::default(),
            Some(_) => Rules {
                incomplete: true,
                errors: vec!["node authorizer does not support user rule resolution".to_owned()],
                ..Rules::default()
            },
        }
    }
}
