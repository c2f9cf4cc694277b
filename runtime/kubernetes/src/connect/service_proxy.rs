//! `services/proxy`: HTTP requests to one of the pods behind a service.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use planesmith_api_defs::core::v1::{EndpointAddress, EndpointSubset, Endpoints, Pod, Service, ServiceProxyOptions};
use planesmith_machinery::go_format::quote;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_server::discovery::ServedSubresource;
use planesmith_server::endpoint::{Call, Endpoint, Subresource};
use planesmith_server::proxy::{Destination, Link, Target, forward, is_proxyable};

use super::address::Address;
use super::stored::Stored;
use super::{path_to_target, requested_path};

/// Passes requests on to an endpoint of a service.
pub(super) struct ServiceProxy {
    objects: Arc<Stored>,
    link: Link,
}

impl ServiceProxy {
    pub(super) fn new(objects: Arc<Stored>, link: Link) -> Self {
        Self { objects, link }
    }

    fn target(&self, call: &Call, path: String) -> ApiResult<Target> {
        let address = Address::parse(call.name(), "service")?;
        let port = self.port_name(call, address)?;
        let endpoints = self.objects.get::<Endpoints>(call.namespace(), address.name);
        let endpoints = endpoints.map_err(|error| match error.code() {
            // The permission is for the service, not for its endpoints.
            404 => ApiError::not_found(
                &planesmith_machinery::group_version::GroupResource::new("", "services"),
                address.name,
            ),
            _ => error,
        })?;
        if endpoints.subsets.is_empty() {
            return Err(unavailable(address.name));
        }
        let reachable = rotated(&endpoints.subsets).find_map(|subset| self.endpoint(call, subset, &port));
        let destination = reachable.ok_or_else(|| unavailable(call.name()))?;
        Ok(Target {
            secure: address.secure,
            destination,
            path,
            query: call.parts.uri.query().unwrap_or_default().to_owned(),
        })
    }

    /// Returns the name of the service's port that the address names, by number or name.
    fn port_name(&self, call: &Call, address: Address<'_>) -> ApiResult<String> {
        let Ok(number) = address.port.parse::<i64>() else {
            return Ok(address.port.to_owned());
        };
        let service: Service = self.objects.get(call.namespace(), address.name)?;
        let found = service.spec.ports.iter().find(|port| i64::from(port.port) == number);
        let found = found.map(|port| port.name.clone());
        found.ok_or_else(|| {
            let name = quote(address.name);
            ApiError::service_unavailable(format!("no service port {number} found for service {name}"))
        })
    }

    /// Returns an address of the subset, at the port named `port`.
    fn endpoint(&self, call: &Call, subset: &EndpointSubset, port: &str) -> Option<Destination> {
        let port = subset.ports.iter().find(|candidate| candidate.name == port)?;
        let port = u16::try_from(port.port).ok()?;
        let address = rotated(&subset.addresses).find(|address| self.is_pods(call, address))?;
        Some(Destination::of_object(&address.ip, port))
    }

    /// True if the address is that of the pod that it refers to. A client that may write endpoints must not make the
    /// server connect to arbitrary addresses.
    fn is_pods(&self, call: &Call, address: &EndpointAddress) -> bool {
        let Some(target) = address
            .target_ref
            .as_ref()
            .filter(|target| target.namespace == call.namespace())
        else {
            return false;
        };
        let Ok(pod) = self.objects.get::<Pod>(&target.namespace, &target.name) else {
            return false;
        };
        let mut ips = pod
            .status
            .pod_ips
            .iter()
            .map(|ip| ip.ip.as_str())
            .chain([pod.status.pod_ip.as_str()]);
        ips.any(|ip| ip == address.ip) && address.ip.parse::<IpAddr>().is_ok_and(is_proxyable)
    }
}

fn unavailable(name: &str) -> ApiError {
    ApiError::service_unavailable(format!("no endpoints available for service {}", quote(name)))
}

/// Iterates over all elements from a random one on, so that load spreads.
fn rotated<T>(list: &[T]) -> impl Iterator<Item = &T> {
    let start = match list.len() {
        0 => 0,
        count => usize::from(uuid::Uuid::new_v4().as_bytes()[0]) % count,
    };
    list[start..].iter().chain(&list[..start])
}

impl Subresource for ServiceProxy {
    fn served(&self) -> ServedSubresource {
        super::served_proxy("ServiceProxyOptions")
    }

    fn serve<'a>(&'a self, endpoint: Arc<Endpoint>, call: &'a Call, body: Body) -> BoxFuture<'a, ApiResult<Response>> {
        Box::pin(async move {
            let options = ServiceProxyOptions {
                path: requested_path(call),
            };
            let options = endpoint.admit_connection(call, options).await?;
            let path = path_to_target(call, &options.path);
            forward(call, body, &self.target(call, path)?, &self.link).await
        })
    }
}
