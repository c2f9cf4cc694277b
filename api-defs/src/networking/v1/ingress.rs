//! Ingresses.

mod backend;
mod check;
mod columns;
mod rule;
mod status;
#[cfg(test)]
mod tests;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Strategy, StrategyExtensions};
use planesmith_machinery::{Resource, Struct};

pub use backend::{IngressBackend, IngressServiceBackend, ServiceBackendPort};
pub use rule::{HTTPIngressPath, HTTPIngressRuleValue, IngressRule, IngressRuleValue};
pub use status::{IngressLoadBalancerIngress, IngressLoadBalancerStatus, IngressPortStatus, IngressStatus};

/// Annotation that selected a class before the field existed.
const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";

/// Rules that route HTTP requests from outside of the cluster to services by host and path, optionally with TLS. The
/// controller of the class implements them.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "networking.k8s.io",
    version = "v1",
    storage_name = "ingress",
    short("ing"),
    status,
    generation,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Class", type = "string", doc = "Class of the controller that serves it.", with = columns::class),
    column(name = "Hosts", type = "string", doc = "The first hosts of its rules.", with = columns::hosts),
    column(name = "Address", type = "string", doc = "Address of the load balancer.", with = columns::address),
    column(name = "Ports", type = "string", doc = "Ports for requests: 443 only with TLS.", with = columns::ports),
    column(age)
)]
pub struct Ingress {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired state.
    #[field(proto = 2)]
    pub spec: IngressSpec,
    /// Observed state, reported by the ingress controller.
    #[field(proto = 3)]
    pub status: IngressStatus,
}

/// Desired state of an ingress: rules, a default backend, or both.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct IngressSpec {
    /// Name of the IngressClass, which determines the controller. Set to the default class on creation if there is one.
    #[field(proto = 4)]
    pub ingress_class_name: Option<String>,
    /// Backend for requests that no rule matches.
    #[field(proto = 1)]
    pub default_backend: Option<IngressBackend>,
    /// Certificates and their hosts. The controller selects a certificate by the host name of the TLS handshake (SNI).
    #[field(proto = 2, list_type = atomic)]
    pub tls: Vec<IngressTLS>,
    /// Rules that route requests by host and path. Requests that no rule matches go to the default backend.
    #[field(proto = 3, list_type = atomic)]
    pub rules: Vec<IngressRule>,
}

/// A certificate and its hosts.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct IngressTLS {
    /// Hosts that the certificate covers. When empty, the default of the controller applies.
    #[field(proto = 1, list_type = atomic)]
    pub hosts: Vec<String>,
    /// Name of the secret with the certificate and its key. Without it, TLS connections are routed by host name without
    /// termination.
    #[field(proto = 2)]
    pub secret_name: String,
}

impl Strategy for Ingress {
    fn validate(&self, errors: &mut FieldErrors) {
        self.check(None, errors);
        if let (Some(annotation), Some(class)) = (self.class_annotation(), &self.spec.ingress_class_name)
            && annotation != class
        {
            let complaint = "must match `ingressClassName` when both are specified";
            errors
                .at("annotations")
                .invalid(CLASS_ANNOTATION, annotation, complaint);
        }
    }

    fn validate_status_update(&self, old: &Self, errors: &mut FieldErrors) {
        let mut errors = errors.at("status.loadBalancer");
        self.status.load_balancer.check(&old.status.load_balancer, &mut errors);
    }

    fn warnings_on_create(&self) -> Vec<String> {
        if self.class_annotation().is_none() || self.spec.ingress_class_name.is_some() {
            return Vec::new();
        }
        vec![format!(
            "annotation \"{CLASS_ANNOTATION}\" is deprecated, please use 'spec.ingressClassName' instead"
        )]
    }

    fn warnings_on_update(&self, _: &Self) -> Vec<String> {
        Vec::new()
    }

    fn warnings_on_status_update(&self, _old: &Self) -> Vec<String> {
        self.status.load_balancer.warnings()
    }
}

impl StrategyExtensions for Ingress {
    fn validate_replacement(&self, old: &Self, errors: &mut FieldErrors) {
        self.check(Some(old), errors);
    }
}

impl Ingress {
    fn class_annotation(&self) -> Option<&String> {
        self.metadata.annotations.get(CLASS_ANNOTATION)
    }
}
