//! Servers behind services, which aggregation and conversion webhooks refer to.

use std::fmt;
use std::sync::{Arc, OnceLock};

use planesmith_machinery::go_format::quote;
use planesmith_server::proxy::Destination;

/// The label of an EndpointSlice that names its service.
pub const SERVICE_NAME: &str = "kubernetes.io/service-name";

/// A port of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServicePort {
    /// Namespace of the service.
    pub namespace: String,
    /// Name of the service.
    pub name: String,
    /// The port.
    pub port: u16,
}

impl ServicePort {
    /// Returns the host name expected in the server's certificate.
    #[must_use]
    pub fn host_name(&self) -> String {
        format!("{}.{}.svc", self.name, self.namespace)
    }
}

/// Resolves a service to one of its addresses.
pub trait Resolver: Send + Sync {
    /// Returns a destination for a port of a service.
    ///
    /// # Errors
    ///
    /// The reason for a failure, worded as kube-apiserver words it.
    fn resolve(&self, service: &ServicePort) -> Result<Destination, String>;
}

/// Finds servers behind services.
pub trait ServiceResolver: Resolver {
    /// Checks that stored objects name a server behind a port of a service.
    ///
    /// # Errors
    ///
    /// The missing part, in the words of kube-apiserver.
    fn check(&self, service: &ServicePort) -> Result<(), Unreachable>;
}

/// The reason why a port of a service has no server behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreachable {
    /// Reason of the condition `Available`, e.g. `ServiceNotFound`.
    pub reason: &'static str,
    /// Message of the condition.
    pub message: String,
}

impl Unreachable {
    /// Reports that there is no such service.
    #[must_use]
    pub fn not_found(service: &ServicePort) -> Self {
        let ServicePort { namespace, name, .. } = service;
        Self {
            reason: "ServiceNotFound",
            message: format!("service/{name} in {} is not present", quote(namespace)),
        }
    }
}

/// The resolver of a server, for parts that are created before it. Clones share it.
#[derive(Clone, Default)]
pub struct LiveServices {
    resolver: Arc<OnceLock<Arc<dyn ServiceResolver>>>,
}

impl LiveServices {
    /// Connects to the server's resolver.
    pub fn connect(&self, resolver: &Arc<dyn ServiceResolver>) {
        // A server has one resolver.
        let _ = self.resolver.set(Arc::clone(resolver));
    }
}

impl Resolver for LiveServices {
    fn resolve(&self, service: &ServicePort) -> Result<Destination, String> {
        match self.resolver.get() {
            Some(resolver) => resolver.resolve(service),
            None => NoServices.resolve(service),
        }
    }
}

impl fmt::Debug for LiveServices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveServices").finish_non_exhaustive()
    }
}

/// The resolver of a program without services.
#[derive(Clone, Copy, Debug)]
pub struct NoServices;

impl Resolver for NoServices {
    fn resolve(&self, service: &ServicePort) -> Result<Destination, String> {
        Err(format!("service {} not found", quote(&service.name)))
    }
}

impl ServiceResolver for NoServices {
    fn check(&self, service: &ServicePort) -> Result<(), Unreachable> {
        Err(Unreachable::not_found(service))
    }
}
