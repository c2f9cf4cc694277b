//! The plugins that every server has.

use std::sync::Arc;

use planesmith_access::admission::{
    AdmissionFuture, Attributes, NamespaceLifecycle, Namespaces, Objects, Operation, Phase, Plugin, decided,
};
use planesmith_server::stores::ResourceStore;

use super::Registration;
use crate::delegation::{Host, HostNamespaces};
use crate::namespaces;

/// Requests that are allowed in namespaces that do not exist.
const REVIEWS: &[(&str, &str)] = &[("authorization.k8s.io", "localsubjectaccessreviews")];

/// Refuses new objects in namespaces that are missing or being deleted.
pub const NAMESPACE_LIFECYCLE: Registration = Registration::on("NamespaceLifecycle", |initializer| {
    let Some(facts) = namespaces::facts(initializer.scheme) else {
        return Ok(None);
    };
    let own = ResourceStore::with_versions(initializer.storage, facts, initializer.scheme);
    let namespaces: Arc<dyn Namespaces> = match initializer.options.aggregation.core_kubeconfig() {
        Some(kubeconfig) => Arc::new(HostNamespaces::new(own, Host::open(kubeconfig, initializer.outbound)?)),
        None => Arc::new(own),
    };
    let plugin = NamespaceLifecycle::new(namespaces).with_reviews(REVIEWS);
    Ok(Some(Arc::new(plugin)))
});

/// Admits everything; exists so that old flags can name it.
pub const ALWAYS_ADMIT: Registration = Registration::off("AlwaysAdmit", |_| Ok(None));

/// Refuses every write; for tests.
pub const ALWAYS_DENY: Registration = Registration::off("AlwaysDeny", |_| Ok(Some(Arc::new(AlwaysDeny))));

/// The plugins of a server without Kubernetes' own kinds.
pub const GENERIC: &[Registration] = &[
    ALWAYS_ADMIT,
    NAMESPACE_LIFECYCLE,
    Registration::place("MutatingAdmissionPolicy", true),
    Registration::place("MutatingAdmissionWebhook", true),
    Registration::place("ValidatingAdmissionPolicy", true),
    Registration::place("ValidatingAdmissionWebhook", true),
    ALWAYS_DENY,
];

struct AlwaysDeny;

impl Plugin for AlwaysDeny {
    fn name(&self) -> &'static str {
        "AlwaysDeny"
    }

    fn handles(&self, _: Operation, _: Phase) -> bool {
        true
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        self.validate(attributes, objects)
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        let why = "admission control is denying all modifications";
        decided(Err(attributes.forbidden(objects.new.as_deref(), why)))
    }
}
