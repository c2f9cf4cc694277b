//! `nodes/proxy`: HTTP requests to kubelets.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use planesmith_api_defs::core::v1::NodeProxyOptions;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_server::discovery::ServedSubresource;
use planesmith_server::endpoint::{Call, Endpoint, Subresource};
use planesmith_server::proxy::{Destination, Link, LinkError, Target, forward};

use super::address::Address;
use super::kubelets::Kubelets;
use super::{path_to_target, requested_path};

/// Passes requests on to the kubelet of a node, or to another port of the node.
pub(super) struct NodeProxy {
    kubelets: Arc<Kubelets>,
    /// The client for other ports.
    link: Link,
}

impl NodeProxy {
    pub(super) fn new(kubelets: Arc<Kubelets>, link: Link) -> Self {
        Self { kubelets, link }
    }

    async fn target(&self, call: &Call, path: String) -> ApiResult<(Target, &Link)> {
        let address = Address::parse(call.name(), "node")?;
        let mut target = self.kubelets.find(address.name)?;
        target.path = path;
        call.parts.uri.query().unwrap_or_default().clone_into(&mut target.query);
        check(&target.destination, self.kubelets.link()).await?;
        if address.port.is_empty() || address.port == target.destination.port().to_string() {
            return Ok((target, self.kubelets.link()));
        }
        target.secure = address.secure;
        target.destination = target.destination.at_port(address.port_number()?);
        Ok((target, &self.link))
    }
}

/// Refuses a node at an address that a proxy may not reach, before any other error is reported.
async fn check(destination: &Destination, link: &Link) -> ApiResult<()> {
    link.check(destination).await.map_err(|error| match error {
        LinkError::Lookup(host) => ApiError::bad_request(format!("lookup {host}: no such host")),
        LinkError::LateLookup(host) => ApiError::bad_request(format!("lookup {host}: i/o timeout")),
        error => ApiError::bad_request(error.to_string()),
    })
}

impl Subresource for NodeProxy {
    fn served(&self) -> ServedSubresource {
        super::served_proxy("NodeProxyOptions")
    }

    fn serve<'a>(&'a self, endpoint: Arc<Endpoint>, call: &'a Call, body: Body) -> BoxFuture<'a, ApiResult<Response>> {
        Box::pin(async move {
            let options = NodeProxyOptions {
                path: requested_path(call),
            };
            let options = endpoint.admit_connection(call, options).await?;
            let path = path_to_target(call, &options.path);
            let (target, link) = self.target(call, path).await?;
            forward(call, body, &target, link).await
        })
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use planesmith_api_defs::core::v1::Node;
    use planesmith_server::proxy::{Dialer, client_tls};
    use planesmith_server::request::{Context, RequestInfo};
    use planesmith_server::shutdown::Stop;
    use planesmith_server::stores::Stores;
    use serde_json::json;
    use tokio::net::TcpListener;

    use super::*;
    use crate::connect::CONNECT_TIMEOUT;
    use crate::connect::tests::kubelet_options;
    use crate::memory_stores::{put, stores};

    fn proxy(stores: &Stores) -> NodeProxy {
        let objects = Arc::new(crate::connect::stored::Stored::new(stores));
        let kubelets = Kubelets::new(&kubelet_options(), objects, &Dialer::default()).unwrap();
        let link = Link::new(client_tls(None, None).unwrap(), CONNECT_TIMEOUT, &Dialer::default());
        NodeProxy::new(Arc::new(kubelets), link)
    }

    fn call(name: &str) -> Call {
        let request = http::Request::get(format!("/api/v1/nodes/{name}/proxy/metrics"));
        let parts = request.body(()).unwrap().into_parts().0;
        let (_, shutdown) = Stop::new();
        let mut ctx = Context::unknown(shutdown);
        ctx.info = Arc::new(RequestInfo::new(&parts.method, &parts.uri));
        Call::new(ctx, parts)
    }

    #[tokio::test]
    async fn a_node_at_an_address_of_the_server_is_refused_before_it_is_dialled() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let stores = stores(|scheme| {
            scheme.add::<Node>();
        });
        let proxy = proxy(&stores);
        for address in [
            "127.0.0.1",
            "localhost",
            "169.254.1.1",
            "fe80::1",
            "::ffff:127.0.0.1",
            "0.0.0.0",
        ] {
            let node = json!({"metadata": {"name": "n"}, "status": {
                "addresses": [{"type": "InternalIP", "address": address}],
                "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
            }});
            put::<Node>(&stores, &node).await;
            for name in [
                "n".to_owned(),
                format!("https:n:{port}"),
                format!("n:{port}"),
                "n:1".to_owned(),
            ] {
                let Err(refused) = proxy.target(&call(&name), String::new()).await else {
                    panic!("{address} is reached as {name}");
                };
                assert_eq!(
                    (refused.code(), refused.message()),
                    (400, "address not allowed"),
                    "{address} {name}"
                );
            }
        }
        let node = json!({"metadata": {"name": "n"}, "status": {
            "addresses": [{"type": "InternalIP", "address": "192.0.2.1"}],
        }});
        put::<Node>(&stores, &node).await;
        let (target, _) = proxy.target(&call("n"), String::new()).await.expect("another host");
        assert_eq!(target.destination, Destination::of_object("192.0.2.1", 10250));
        assert!(listener.accept().now_or_never().is_none(), "the server dialled");
    }
}
