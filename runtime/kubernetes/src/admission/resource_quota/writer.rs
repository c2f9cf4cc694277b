//! Writes the usage of quotas back to their status.

use std::future::Future;
use std::pin::Pin;

use http::{Method, StatusCode};
use planesmith_api_defs::core::v1::ResourceQuota;
use planesmith_control_plane::loopback::{Loopback, LoopbackError};
use planesmith_control_plane::resource_client::text;
use planesmith_machinery::json;
use planesmith_machinery::status::{ApiError, ApiResult, Reason};

/// Stores the status of quotas.
pub(super) trait Writer: Send + Sync {
    /// Stores the status of a quota if it has not changed since it was read, and returns its new version.
    fn write<'a>(&'a self, quota: &'a ResourceQuota) -> Pin<Box<dyn Future<Output = ApiResult<String>> + Send + 'a>>;
}

/// Stores as a client of the server.
pub(super) struct ThroughLoopback(pub(super) Loopback);

impl Writer for ThroughLoopback {
    fn write<'a>(&'a self, quota: &'a ResourceQuota) -> Pin<Box<dyn Future<Output = ApiResult<String>> + Send + 'a>> {
        Box::pin(async move {
            let meta = &quota.metadata;
            let path = format!(
                "/api/v1/namespaces/{}/resourcequotas/{}/status",
                meta.namespace, meta.name
            );
            let body = serde_json::from_slice(&json::to_vec(quota))
                .map_err(|_| ApiError::internal("a resource quota cannot be written"))?;
            match self.0.send(Method::PUT, &path, Some(&body)).await {
                Ok(stored) => Ok(text(&stored, "/metadata/resourceVersion").to_owned()),
                Err(error) => Err(refusal(&error)),
            }
        })
    }
}

/// Returns the error for the client whose object is charged.
fn refusal(error: &LoopbackError) -> ApiError {
    if error.status() == Some(StatusCode::CONFLICT) {
        return ApiError::new(Reason::Conflict, error.client_message());
    }
    tracing::warn!(%error, "the usage of a resource quota cannot be written");
    ApiError::internal("the usage of a resource quota cannot be written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_are_told_in_the_words_of_the_store() {
        let message = "Operation cannot be fulfilled on resourcequotas \"q\": the object has been modified; please apply \
                       your changes to the latest version and try again";
        let error = refusal(&LoopbackError::Refused {
            method: Method::PUT,
            path: "/api/v1/namespaces/ns/resourcequotas/q/status".to_owned(),
            status: StatusCode::CONFLICT,
            message: message.to_owned(),
        });
        assert_eq!((error.code(), error.message()), (409, message));
    }
}
