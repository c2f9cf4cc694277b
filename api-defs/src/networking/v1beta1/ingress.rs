//! Ingresses in a version that is no longer served.

use planesmith_machinery::int_or_string::IntOrString;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::resource::Convert;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::{Resource, Struct};

use crate::core::v1::TypedLocalObjectReference;
use crate::networking::v1::{self, IngressStatus, IngressTLS};

/// Rules that route HTTP requests from outside of the cluster to services.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "networking.k8s.io",
    version = "v1beta1",
    unserved,
    status,
    generation,
    strategy
)]
#[resource(storage_version = v1::Ingress, convert)]
pub struct Ingress {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired state.
    #[field(proto = 2)]
    pub spec: IngressSpec,
    /// Observed state.
    #[field(proto = 3)]
    pub status: IngressStatus,
}

/// Desired state of an ingress.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct IngressSpec {
    /// Name of the IngressClass.
    #[field(proto = 4)]
    pub ingress_class_name: Option<String>,
    /// Backend for requests that no rule matches.
    #[field(proto = 1)]
    pub backend: Option<IngressBackend>,
    /// Certificates and their hosts.
    #[field(proto = 2, list_type = atomic)]
    pub tls: Vec<IngressTLS>,
    /// Rules that route requests by host.
    #[field(proto = 3, list_type = atomic)]
    pub rules: Vec<IngressRule>,
}

/// Backend of requests.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct IngressBackend {
    /// Name of a service.
    #[field(proto = 1)]
    pub service_name: String,
    /// Port of the service, by number or by name.
    #[field(proto = 2)]
    pub service_port: IntOrString,
    /// Another object that the controller supports.
    #[field(proto = 3)]
    pub resource: Option<TypedLocalObjectReference>,
}

/// Rule that routes the requests for one host.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct IngressRule {
    /// Host of the requests.
    #[field(proto = 1)]
    pub host: String,
    /// Routes of the requests.
    #[field(inline, proto = 2)]
    pub ingress_rule_value: IngressRuleValue,
}

/// Routes of the requests for a host.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct IngressRuleValue {
    /// Routes of HTTP requests.
    #[field(proto = 1)]
    pub http: Option<HTTPIngressRuleValue>,
}

/// Routes of HTTP requests by path.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HTTPIngressRuleValue {
    /// Paths and their backends.
    #[field(proto = 1, keep, list_type = atomic)]
    pub paths: Vec<HTTPIngressPath>,
}

/// A path and its backend.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HTTPIngressPath {
    /// URL path.
    #[field(proto = 1)]
    pub path: String,
    /// Type of path matching.
    #[field(proto = 3, go_type = "PathType")]
    pub path_type: Option<String>,
    /// Backend of the requests.
    #[field(proto = 2, keep)]
    pub backend: IngressBackend,
}

impl Strategy for Ingress {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }
}

impl IngressSpec {
    /// Sets the default type of path matching.
    pub(crate) fn set_defaults(&mut self) {
        let rules = self.rules.iter_mut();
        let paths = rules.filter_map(|rule| rule.ingress_rule_value.http.as_mut());
        for path in paths.flat_map(|http| &mut http.paths) {
            path.path_type
                .get_or_insert_with(|| "ImplementationSpecific".to_owned());
        }
    }

    /// Converts the backends to v1.
    pub(crate) fn backends_to_v1(&self, hub: &mut v1::IngressSpec) {
        hub.default_backend = self.backend.as_ref().map(IngressBackend::to_v1);
        for (old, new) in self.rules.iter().zip(&mut hub.rules) {
            if let (Some(old), Some(new)) = (&old.ingress_rule_value.http, &mut new.ingress_rule_value.http) {
                for (old, new) in old.paths.iter().zip(&mut new.paths) {
                    new.backend = old.backend.to_v1();
                }
            }
        }
    }

    /// Converts the backends from v1.
    pub(crate) fn backends_of_v1(&mut self, hub: &v1::IngressSpec) {
        self.backend = hub.default_backend.as_ref().map(IngressBackend::of_v1);
        for (old, new) in self.rules.iter_mut().zip(&hub.rules) {
            if let (Some(old), Some(new)) = (&mut old.ingress_rule_value.http, &new.ingress_rule_value.http) {
                for (old, new) in old.paths.iter_mut().zip(&new.paths) {
                    old.backend = IngressBackend::of_v1(&new.backend);
                }
            }
        }
    }

    /// True if this version can represent all backends of `hub`.
    pub(crate) fn can_hold(hub: &v1::IngressSpec) -> bool {
        let rules = hub.rules.iter();
        let paths = rules.filter_map(|rule| rule.ingress_rule_value.http.as_ref());
        let backends = paths.flat_map(|http| &http.paths).map(|path| &path.backend);
        let mut backends = backends.chain(&hub.default_backend);
        backends.all(IngressBackend::can_hold)
    }
}

impl IngressBackend {
    /// Converts the backend to v1.
    #[must_use]
    pub fn to_v1(&self) -> v1::IngressBackend {
        let mut service = v1::IngressServiceBackend {
            name: self.service_name.clone(),
            ..v1::IngressServiceBackend::default()
        };
        let named = match &self.service_port {
            IntOrString::Int(number) => {
                service.port.number = *number;
                *number != 0
            }
            IntOrString::String(name) => {
                service.port.name.clone_from(name);
                true
            }
        };
        v1::IngressBackend {
            service: (named || !self.service_name.is_empty()).then_some(service),
            resource: self.resource.clone(),
        }
    }

    /// Converts `backend` from v1.
    #[must_use]
    pub fn of_v1(backend: &v1::IngressBackend) -> Self {
        let service = backend.service.as_ref();
        Self {
            service_name: service.map(|service| service.name.clone()).unwrap_or_default(),
            service_port: service.map_or(IntOrString::Int(0), |service| match service.port.name.as_str() {
                "" => IntOrString::Int(service.port.number),
                name => name.into(),
            }),
            resource: backend.resource.clone(),
        }
    }

    /// True if `backend` survives [`Self::of_v1`] and [`Self::to_v1`] unchanged.
    #[must_use]
    pub fn can_hold(backend: &v1::IngressBackend) -> bool {
        Self::of_v1(backend).to_v1() == *backend
    }
}

impl Convert<v1::Ingress> for Ingress {
    fn finish_to_hub(&self, hub: &mut v1::Ingress) {
        self.spec.backends_to_v1(&mut hub.spec);
    }

    fn finish_from_hub(&mut self, hub: &v1::Ingress) {
        self.spec.backends_of_v1(&hub.spec);
    }

    fn can_hold(hub: &v1::Ingress) -> bool {
        IngressSpec::can_hold(&hub.spec)
    }
}
