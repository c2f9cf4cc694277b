//! Backends of ingresses.

use planesmith_machinery::Struct;

use crate::core::v1::TypedLocalObjectReference;

/// Backend of requests: either a service or another object.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct IngressBackend {
    /// A service in the same namespace.
    #[field(proto = 4)]
    pub service: Option<IngressServiceBackend>,
    /// Another object in the same namespace that the controller supports.
    #[field(proto = 3)]
    pub resource: Option<TypedLocalObjectReference>,
}

/// A port of a service.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct IngressServiceBackend {
    /// Name of the service, in the namespace of the ingress.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Port of the service.
    #[field(proto = 2)]
    pub port: ServiceBackendPort,
}

/// A port of a service, by name or by number.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct ServiceBackendPort {
    /// Name of the port. Excludes number.
    #[field(proto = 1)]
    pub name: String,
    /// Number of the port. Excludes name.
    #[field(proto = 2)]
    pub number: i32,
}
