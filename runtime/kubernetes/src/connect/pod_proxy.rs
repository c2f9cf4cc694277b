//! `pods/proxy`: HTTP requests to programs in pods.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use planesmith_api_defs::core::v1::{Pod, PodProxyOptions};
use planesmith_machinery::status::ApiResult;
use planesmith_server::discovery::ServedSubresource;
use planesmith_server::endpoint::{Call, Endpoint, Subresource};
use planesmith_server::proxy::{Destination, Link, Target, forward, is_proxyable};

use super::address::{Address, not_allowed};
use super::stored::Stored;
use super::{path_to_target, requested_path};

/// Passes requests on to the address of a pod.
pub(super) struct PodProxy {
    objects: Arc<Stored>,
    link: Link,
}

impl PodProxy {
    pub(super) fn new(objects: Arc<Stored>, link: Link) -> Self {
        Self { objects, link }
    }

    fn target(&self, call: &Call, path: String) -> ApiResult<Target> {
        let address = Address::parse(call.name(), "pod")?;
        let pod: Pod = self.objects.get(call.namespace(), address.name)?;
        let ip = pod
            .status
            .pod_ips
            .first()
            .map_or(pod.status.pod_ip.as_str(), |ip| ip.ip.as_str());
        // A status names addresses, and no hosts.
        if !ip.parse::<IpAddr>().is_ok_and(is_proxyable) {
            return Err(not_allowed());
        }
        let ports = pod.spec.containers.iter().find_map(|container| container.ports.first());
        let first = ports.and_then(|port| u16::try_from(port.container_port).ok());
        let port = match (address.port, first) {
            ("", Some(first)) => first,
            _ => address.port_number()?,
        };
        Ok(Target {
            secure: address.secure,
            destination: Destination::of_object(ip, port),
            path,
            query: call.parts.uri.query().unwrap_or_default().to_owned(),
        })
    }
}

impl Subresource for PodProxy {
    fn served(&self) -> ServedSubresource {
        super::served_proxy("PodProxyOptions")
    }

    fn serve<'a>(&'a self, endpoint: Arc<Endpoint>, call: &'a Call, body: Body) -> BoxFuture<'a, ApiResult<Response>> {
        Box::pin(async move {
            let options = PodProxyOptions {
                path: requested_path(call),
            };
            let options = endpoint.admit_connection(call, options).await?;
            let path = path_to_target(call, &options.path);
            forward(call, body, &self.target(call, path)?, &self.link).await
        })
    }
}
