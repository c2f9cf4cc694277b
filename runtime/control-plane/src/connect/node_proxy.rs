//! `nodes/proxy`: HTTP requests to the agents of nodes.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use planesmith_api_defs::core::v1::NodeProxyOptions;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_server::endpoint::{Call, Endpoint, Subresource};
use planesmith_server::proxy::{Link, Target, forward, rest_of_path};
use planesmith_server::routes::ServedSubresource;

use super::address::{Address, is_proxyable, not_allowed};
use super::kubelets::Kubelets;

/// Passes requests on to the agent of a node, or to another port of it.
pub(super) struct NodeProxy {
    kubelets: Arc<Kubelets>,
    /// The way to other ports.
    link: Link,
}

impl NodeProxy {
    pub(super) fn new(kubelets: Arc<Kubelets>, link: Link) -> Self {
        Self { kubelets, link }
    }

    async fn target(&self, call: &Call) -> ApiResult<(Target, &Link)> {
        let address = Address::parse(call.name(), "node")?;
        let mut target = self.kubelets.find(address.name)?;
        target.path = rest_of_path(&call.parts);
        call.parts.uri.query().unwrap_or_default().clone_into(&mut target.query);
        if address.port.is_empty() || address.port == target.port.to_string() {
            return Ok((target, self.kubelets.link()));
        }
        check_reachable(&target.host).await?;
        target.secure = address.secure;
        target.port = address.port_number()?;
        Ok((target, &self.link))
    }
}

/// Refuses hosts that stand for an address that a proxy may not reach.
async fn check_reachable(host: &str) -> ApiResult<()> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return if is_proxyable(address) {
            Ok(())
        } else {
            Err(not_allowed())
        };
    }
    let found = tokio::net::lookup_host((host, 0)).await;
    let mut found = found.map_err(|_| ApiError::bad_request(format!("lookup {host}: no such host")))?;
    match found.all(|address| is_proxyable(address.ip())) {
        true => Ok(()),
        false => Err(not_allowed()),
    }
}

impl Subresource for NodeProxy {
    fn served(&self) -> ServedSubresource {
        super::served_proxy("NodeProxyOptions")
    }

    fn serve<'a>(&'a self, endpoint: Arc<Endpoint>, call: &'a Call, body: Body) -> BoxFuture<'a, ApiResult<Response>> {
        Box::pin(async move {
            let options = NodeProxyOptions {
                path: rest_of_path(&call.parts),
            };
            endpoint.admit_connection(call, &options).await?;
            let (target, link) = self.target(call).await?;
            forward(call, body, &target, link).await
        })
    }
}
