//! `componentstatuses`: the health of the parts of the control plane, by probing them.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use futures_util::future::{BoxFuture, join_all};
use planesmith_api_defs::core::v1::{ComponentCondition, ComponentStatus};
use planesmith_machinery::group_version::GroupResource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::object::Object;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_server::endpoint::Source;
use planesmith_server::proxy::{self, Destination, Dialer, Link, Target, TrustError, client_tls};
use planesmith_server::stores::Stores;

/// The longest time a component may take to answer.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The store, under the name by which clients know it.
const STORE: &str = "etcd-0";

/// The other components, and the ports they listen on beside an API server.
const COMPONENTS: [(&str, u16); 2] = [("controller-manager", 10257), ("scheduler", 10259)];

/// The most bytes of an answer that are reported.
const LIMIT: usize = 10 << 10;

/// Probes the components.
struct Components {
    link: Link,
}

/// Registers the handler of component statuses. To be called before the kinds are installed.
///
/// # Errors
///
/// When no TLS client can be set up for the probes.
pub(crate) fn show(stores: &Stores, dialer: &Dialer) -> Result<(), TrustError> {
    let link = Link::new(client_tls(None, None)?, TIMEOUT, dialer);
    stores.show("", "componentstatuses", Arc::new(Components { link }));
    Ok(())
}

impl Components {
    async fn probe(&self, name: &str, port: u16) -> ComponentStatus {
        let target = Target {
            secure: true,
            destination: Destination::unrestricted("127.0.0.1", port),
            path: "/healthz".to_owned(),
            query: String::new(),
        };
        let url = format!("https://{}/healthz", target.authority());
        let Ok(answer) = tokio::time::timeout(TIMEOUT, proxy::fetch(&target, &self.link)).await else {
            let why = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
            return status(name, false, format!("Get \"{url}\": {why}"));
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return status(name, false, format!("Get \"{url}\": {error}")),
        };
        let code = answer.status().as_u16();
        match (200..400).contains(&code) {
            true => status(name, true, words(Body::new(answer.into_body())).await),
            false => status(name, false, format!("HTTP probe failed with statuscode: {code}")),
        }
    }
}

impl Source for Components {
    fn one<'a>(&'a self, _: &'a str, name: &'a str) -> BoxFuture<'a, ApiResult<Box<dyn Object>>> {
        Box::pin(async move {
            if name == STORE {
                return Ok(Box::new(of_store()) as Box<dyn Object>);
            }
            let found = COMPONENTS.iter().find(|(known, _)| *known == name);
            let (name, port) =
                found.ok_or_else(|| ApiError::not_found(&GroupResource::new("", "componentstatus"), name))?;
            Ok(Box::new(self.probe(name, *port).await) as Box<dyn Object>)
        })
    }

    fn all<'a>(&'a self, _: &'a str) -> BoxFuture<'a, ApiResult<Vec<Box<dyn Object>>>> {
        Box::pin(async move {
            let probes = COMPONENTS.iter().map(|(name, port)| self.probe(name, *port));
            let mut found = join_all(probes).await;
            found.push(of_store());
            found.sort_by(|left, right| left.metadata.name.cmp(&right.metadata.name));
            let boxed = found.into_iter().map(|status| Box::new(status) as Box<dyn Object>);
            Ok(boxed.collect())
        })
    }
}

/// The store is part of the server, so it works whenever a request is answered.
fn of_store() -> ComponentStatus {
    status(STORE, true, "ok".to_owned())
}

fn status(name: &str, healthy: bool, message: String) -> ComponentStatus {
    ComponentStatus {
        metadata: ObjectMeta {
            name: name.to_owned(),
            ..ObjectMeta::default()
        },
        conditions: vec![ComponentCondition {
            type_: "Healthy".to_owned(),
            status: if healthy { "True" } else { "False" }.to_owned(),
            message,
            ..ComponentCondition::default()
        }],
    }
}

/// Returns the text of a component's answer; empty if it is longer than the limit.
async fn words(body: Body) -> String {
    let text = axum::body::to_bytes(body, LIMIT).await.unwrap_or_default();
    String::from_utf8_lossy(&text).into_owned()
}
