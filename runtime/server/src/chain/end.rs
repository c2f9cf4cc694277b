//! The end of the chain: the answer for paths that no server serves.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::Request;
use http::request::Parts;
use planesmith_machinery::status::ApiError;

use crate::failure;

/// Tracks if all paths are installed.
///
/// A path that is missing only because the server is still starting is answered with 503: a client that received 404
/// would conclude that its objects were deleted.
#[derive(Clone, Debug, Default)]
pub struct Installation {
    outstanding: Arc<AtomicUsize>,
}

/// Marks paths as outstanding until it is dropped.
#[derive(Debug)]
pub struct Installing {
    outstanding: Arc<AtomicUsize>,
}

impl Installation {
    /// Announces paths that will be installed later.
    #[must_use]
    pub fn begin(&self) -> Installing {
        self.outstanding.fetch_add(1, Ordering::AcqRel);
        Installing {
            outstanding: Arc::clone(&self.outstanding),
        }
    }

    /// True if no paths are outstanding.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.outstanding.load(Ordering::Acquire) == 0
    }

    /// 503 until every path is installed, 404 from then on.
    pub(super) fn end_of_chain(&self) -> Router {
        let installation = self.clone();
        Router::new().fallback(move |request: Request<Body>| {
            let complete = installation.is_complete();
            async move {
                match complete {
                    true => failure::page_not_found(),
                    false => not_yet_installed(&request.into_parts().0),
                }
            }
        })
    }
}

impl Drop for Installing {
    fn drop(&mut self) {
        self.outstanding.fetch_sub(1, Ordering::AcqRel);
    }
}

fn not_yet_installed(request: &Parts) -> Response {
    let words = "the request has been made before all known HTTP paths have been installed, please retry";
    let mut error = ApiError::service_unavailable(words);
    error.status_mut().details.get_or_insert_default().retry_after_seconds = 5;
    failure::respond(request, &error)
}
