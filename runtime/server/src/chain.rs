//! Servers that answer what they know and pass on the rest.
//!
//! Every server is an axum router with a handful of generic paths; which resources exist is decided by its route table,
//! so that a resource costs a table entry and not a route. Delegation is the router's fallback.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwap;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::any;
use http::{Request, StatusCode, header};
use tower::ServiceExt;

use crate::failure;
use crate::request::Context;
use crate::routes::{Found, RouteTable};

/// The table that a server looks into; swapping it changes what the server answers from the next request on.
pub type SharedTable = Arc<ArcSwap<RouteTable>>;

/// One server of the chain, while it is put together.
#[derive(Debug)]
pub struct ApiServer {
    name: &'static str,
    table: SharedTable,
    extra: Router,
}

impl ApiServer {
    /// A server that answers for the resources of `table`.
    #[must_use]
    pub fn new(name: &'static str, table: RouteTable) -> Self {
        Self {
            name,
            table: Arc::new(ArcSwap::from_pointee(table)),
            extra: Router::new(),
        }
    }

    /// E.g. `core`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The table that the server looks into, to be swapped while serving.
    #[must_use]
    pub fn table(&self) -> SharedTable {
        Arc::clone(&self.table)
    }

    /// Adds paths outside `/api` and `/apis`.
    #[must_use]
    pub fn with_paths(mut self, paths: Router) -> Self {
        self.extra = self.extra.merge(paths);
        self
    }

    /// The server as a router that passes on to `delegate` what it does not know.
    #[must_use]
    pub fn router(self, delegate: Router) -> Router {
        let state = Arc::new(Resources {
            table: self.table,
            delegate: delegate.clone(),
        });
        let resources = any(resource);
        Router::new()
            .route("/api/{*rest}", resources.clone())
            .route("/apis/{*rest}", resources)
            .with_state(state)
            .merge(self.extra)
            .fallback_service(delegate)
    }
}

struct Resources {
    table: SharedTable,
    delegate: Router,
}

async fn resource(State(server): State<Arc<Resources>>, request: Request<Body>) -> Response {
    let Some(ctx) = request.extensions().get::<Context>().cloned() else {
        return failure::status(
            StatusCode::INTERNAL_SERVER_ERROR,
            "InternalError",
            "no RequestInfo found in the context",
        );
    };
    let found = if ctx.info.is_resource() {
        server.table.load().find(&ctx.info)
    } else {
        Found::Elsewhere
    };
    match found {
        Found::Handler(handler) => handler.serve(ctx, request).await,
        Found::OtherMethod => failure::method_not_allowed(),
        Found::Nothing => failure::not_found(),
        Found::Elsewhere => pass_on(server.delegate.clone(), request).await,
    }
}

async fn pass_on(delegate: Router, request: Request<Body>) -> Response {
    match delegate.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// Becomes true when every path is installed.
pub type Installed = Arc<AtomicBool>;

/// The end of the chain: 503 until every path is installed, 404 from then on.
pub fn end_of_chain(installed: Installed) -> Router {
    Router::new().fallback(move || {
        let installed = installed.load(Ordering::Acquire);
        std::future::ready(if installed {
            failure::page_not_found()
        } else {
            not_yet_installed()
        })
    })
}

fn not_yet_installed() -> Response {
    let mut response = failure::status(
        StatusCode::SERVICE_UNAVAILABLE,
        "ServiceUnavailable",
        "the request has been made before all known HTTP paths have been installed, please retry",
    );
    response
        .headers_mut()
        .insert(header::RETRY_AFTER, header::HeaderValue::from_static("5"));
    response
}
