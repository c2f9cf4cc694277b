//! How usage is written back.

use std::future::Future;
use std::pin::Pin;

use http::{Method, StatusCode};
use planesmith_api_defs::core::v1::ResourceQuota;
use planesmith_machinery::json;
use planesmith_machinery::status::{ApiError, ApiResult, Reason};

use crate::loopback::Loopback;
use crate::objects::text;

/// Stores the status of quotas.
pub(super) trait Writer: Send + Sync {
    /// Stores the status of a quota if nobody has changed it since it was read, and returns its new version.
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
                Err(error) if error.status() == Some(StatusCode::CONFLICT) => {
                    Err(ApiError::new(Reason::Conflict, error.to_string()))
                }
                Err(error) => {
                    tracing::warn!(%error, "the usage of a resource quota cannot be written");
                    Err(ApiError::internal("the usage of a resource quota cannot be written"))
                }
            }
        })
    }
}
