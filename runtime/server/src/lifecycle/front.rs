//! The outermost layer of a chain.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::header::CONTENT_LENGTH;
use http::{Method, Request, StatusCode};
use http_body::Body as _;
use planesmith_machinery::feature::Features;

use crate::body::Unread;
use crate::connection::Connection;
use crate::filters::{Exchange, Filters};
use crate::listener::Service;
use crate::metrics::SharedMetrics;
use crate::sending::Answer;
use crate::shutdown::Shutdown;

/// The outermost layer of a chain: the filters and, behind them, the outermost server.
#[derive(Debug)]
pub struct Front {
    pub(super) filters: Filters,
    pub(super) router: Router,
    pub(super) shutdown: Shutdown,
    pub(super) metrics: SharedMetrics,
    pub(super) features: Features,
}

impl Front {
    /// Answers one request from a client or from inside the process.
    pub fn serve(&self, request: Request<Body>, connection: Arc<Connection>) -> BoxFuture<'_, Response> {
        Box::pin(self.answer(request, connection).map(|answer| answer.response))
    }

    /// The metrics of the server.
    #[must_use]
    pub fn metrics(&self) -> &SharedMetrics {
        &self.metrics
    }

    async fn answer(&self, request: Request<Body>, connection: Arc<Connection>) -> Answer {
        let is_head = request.method() == Method::HEAD;
        let (unread, request) = Unread::from_request(request);
        let exchange = Exchange::new(request, connection, self.shutdown.clone(), self.features.clone());
        let mut answer = self.filters.serve(exchange, &self.router).await;
        unread.drain().await;
        if is_head {
            answer.response = without_body(answer.response);
        }
        let headers = answer.response.headers();
        if answer.response.status() == StatusCode::NOT_MODIFIED
            && headers.get(CONTENT_LENGTH).is_some_and(|length| length == "0")
        {
            // The router adds that of the empty body, which is not that of the client's copy.
            answer.response.headers_mut().remove(CONTENT_LENGTH);
        }
        answer
    }
}

/// Removes the body of the answer to a HEAD request, and keeps its length.
fn without_body(response: Response) -> Response {
    let (mut head, body) = response.into_parts();
    if let Some(length) = body.size_hint().exact().filter(|length| *length > 0) {
        head.headers.entry(CONTENT_LENGTH).or_insert_with(|| length.into());
    }
    Response::from_parts(head, Body::empty())
}

impl Service for Front {
    async fn serve(self: Arc<Self>, request: Request<Body>, connection: Arc<Connection>) -> Answer {
        self.answer(request, connection).await
    }

    fn handshake_failed(&self) {
        self.metrics.count_failed_handshake();
    }
}
