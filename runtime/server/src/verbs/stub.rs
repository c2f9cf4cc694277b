use axum::body::Body;
use axum::response::Response;
use planesmith_machinery::resource::ScaleFacts;
use planesmith_machinery::status::{ApiError, ApiResult};

use crate::endpoint::{Call, Endpoint};

impl Endpoint {
    pub(crate) async fn patch(&self, _: &Call, _: Body) -> ApiResult<Response> {
        Err(ApiError::internal("patch"))
    }
    pub(crate) async fn patch_status(&self, _: &Call, _: Body) -> ApiResult<Response> {
        Err(ApiError::internal("patch"))
    }
    pub(crate) async fn get_scale(&self, _: &Call, _: &ScaleFacts) -> ApiResult<Response> {
        Err(ApiError::internal("scale"))
    }
    pub(crate) async fn update_scale(&self, _: &Call, _: Body, _: &ScaleFacts) -> ApiResult<Response> {
        Err(ApiError::internal("scale"))
    }
    pub(crate) async fn patch_scale(&self, _: &Call, _: Body, _: &ScaleFacts) -> ApiResult<Response> {
        Err(ApiError::internal("scale"))
    }
}
