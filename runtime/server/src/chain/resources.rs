//! The resources of one server.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::any;
use http::{Request, StatusCode};
use planesmith_machinery::status::ApiError;
use tower::ServiceExt;

use super::SharedTable;
use crate::failure;
use crate::request::Context;
use crate::routes::Found;

/// A server with the resources of `table` and paths of its own, which passes everything else on to `delegate`.
pub(super) fn router(table: SharedTable, delegate: Router, own: Router) -> Router {
    let state = Arc::new(Server {
        table,
        delegate: delegate.clone(),
    });
    let resources = any(resource);
    Router::new()
        .route("/api/{*rest}", resources.clone())
        .route("/apis/{*rest}", resources)
        .with_state(state)
        .merge(own)
        .fallback_service(delegate)
}

struct Server {
    table: SharedTable,
    delegate: Router,
}

async fn resource(State(server): State<Arc<Server>>, request: Request<Body>) -> Response {
    let Some(ctx) = request.extensions().get::<Context>().cloned() else {
        return failure::text(StatusCode::INTERNAL_SERVER_ERROR, "no RequestInfo found in the context");
    };
    let table = server.table.load();
    let found = if ctx.info.is_resource() {
        table.find(&ctx.info)
    } else {
        table.find_document(&ctx.info)
    };
    drop(table);
    let error = match found {
        Found::Handler(handler) => return handler.serve(ctx, request).await,
        Found::Elsewhere => return pass_on(server.delegate.clone(), request).await,
        Found::Document(document) => return document.answer(&request.into_parts().0),
        Found::OtherMethod => ApiError::method_not_allowed(),
        Found::Nothing => ApiError::path_not_found(),
    };
    failure::respond(&request.into_parts().0, &error)
}

async fn pass_on(delegate: Router, request: Request<Body>) -> Response {
    delegate.oneshot(request).await.unwrap_or_else(|never| match never {})
}
