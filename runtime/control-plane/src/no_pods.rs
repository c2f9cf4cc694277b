//! Pods, in a server that has none.
//!
//! Clients take for granted that nodes run pods: `kubectl describe node` lists those of the node and fails when it cannot.
//! The list of a server without pods is empty, and that is all there is of them here.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use http::{Request, StatusCode};
use planesmith_machinery::resource::Scope;
use planesmith_machinery::scheme::Scheme;
use planesmith_server::negotiation::{Format, Offer, negotiate};
use planesmith_server::request::{Context, Verb};
use planesmith_server::response;
use planesmith_server::routes::{ResourceHandler, Routes, ServedResource};
use planesmith_store::Storage;
use serde_json::json;

/// The list of all pods: always empty.
struct NoPods {
    served: ServedResource,
    storage: Storage,
}

/// Serves the empty list of pods where there are nodes but no pods. To be called before the kinds are installed.
pub fn install(routes: &mut Routes, scheme: &Scheme, storage: &Storage) {
    let has = |plural| scheme.resource("", "v1", plural).is_some();
    if has("nodes") && !has("pods") {
        routes.add(Arc::new(NoPods {
            served: served(),
            storage: storage.clone(),
        }));
    }
}

fn served() -> ServedResource {
    ServedResource {
        group: "".into(),
        version: "v1".into(),
        plural: "pods".into(),
        singular: "pod".into(),
        kind: "Pod".into(),
        short_names: vec!["po".into()],
        categories: Vec::new(),
        scope: Scope::Namespaced,
        verbs: vec![Verb::List],
        stored_as: None,
        subresources: Vec::new(),
    }
}

impl ResourceHandler for NoPods {
    fn facts(&self) -> &ServedResource {
        &self.served
    }

    fn serve(self: Arc<Self>, _: Context, request: Request<Body>) -> BoxFuture<'static, Response> {
        Box::pin(async move {
            let (request, _) = request.into_parts();
            let mut output = match negotiate(&request, Offer::Plain) {
                Ok(output) => output,
                Err(error) => return response::failure(&request, &error),
            };
            if output.format == Format::Protobuf {
                // Clients of protobuf take JSON as well.
                output.format = Format::Json;
            }
            let list = json!({
                "kind": "PodList",
                "apiVersion": "v1",
                "metadata": { "resourceVersion": self.storage.revision().to_string() },
                "items": [],
            });
            let body = response::text(output, list.to_string().into_bytes());
            response::bytes(StatusCode::OK, output.format.media_type(), body)
        })
    }
}
