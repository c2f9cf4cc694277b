//! The resources of the servers of a chain.

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
use super::discovery::Discovery;
use crate::failure;
use crate::request::Context;
use crate::response;
use crate::routes::Found;

/// The tables of a server and of its delegates, outermost first.
///
/// A request for a resource goes from table to table without another router lookup: most requests are for the second of
/// three servers.
#[derive(Clone, Debug)]
pub(crate) struct Resources {
    tables: Arc<[SharedTable]>,
    discovery: Arc<Discovery>,
    /// Receives the requests that no table serves.
    end: Router,
}

impl Resources {
    pub(crate) fn new(tables: &[SharedTable], discovery: Arc<Discovery>, end: Router) -> Self {
        Self {
            tables: tables.into(),
            discovery,
            end,
        }
    }

    /// A router for all paths below `/api` and `/apis`.
    pub(crate) fn router(self) -> Router {
        Router::new()
            .route("/api/{*rest}", any(answer))
            .route("/apis/{*rest}", any(answer))
            .with_state(self)
    }
}

async fn answer(State(resources): State<Resources>, request: Request<Body>) -> Response {
    let Some(ctx) = request.extensions().get::<Context>().cloned() else {
        return response::plain_text(StatusCode::INTERNAL_SERVER_ERROR, "no RequestInfo found in the context");
    };
    if !ctx.info.is_resource()
        && let Some(group) = resources.discovery.group(ctx.info.path())
    {
        return group.answer_above(&request.into_parts().0);
    }
    for table in &*resources.tables {
        let table = table.load();
        let found = if ctx.info.is_resource() {
            table.find(&ctx.info)
        } else {
            table.find_document(&ctx.info)
        };
        drop(table);
        let error = match found {
            Found::Handler(handler) => return handler.serve(ctx, request).await,
            Found::Version(handler) => return handler.serve(ctx, request).await,
            Found::Document(document) => return document.answer(&request.into_parts().0),
            Found::DocumentAbove(document) => return document.answer_above(&request.into_parts().0),
            Found::Elsewhere => continue,
            Found::Refused(error) => error,
            Found::OtherMethod => ApiError::method_not_allowed(),
            Found::Nothing => ApiError::path_not_found(),
        };
        return failure::respond(&request.into_parts().0, &error);
    }
    resources
        .end
        .oneshot(request)
        .await
        .unwrap_or_else(|never| match never {})
}
