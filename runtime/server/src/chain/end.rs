//! The end of the chain: the answer for paths that no server serves.

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::Request;
use http::request::Parts;
use planesmith_machinery::status::ApiError;

use crate::failure;
use crate::installation::Installation;

/// A router that answers with 503 until every path is installed, and with 404 from then on.
pub(super) fn end_of_chain(installation: &Installation) -> Router {
    let installation = installation.clone();
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

fn not_yet_installed(request: &Parts) -> Response {
    let words = "the request has been made before all known HTTP paths have been installed, please retry";
    let mut error = ApiError::service_unavailable(words);
    error.status_mut().details.get_or_insert_default().retry_after_seconds = 5;
    failure::respond(request, &error)
}
