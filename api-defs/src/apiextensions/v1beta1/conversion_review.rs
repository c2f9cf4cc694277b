//! Reviews by conversion webhooks, in v1beta1.

use crate::apiextensions::v1::{ConversionRequest, ConversionResponse};
use planesmith_machinery::Struct;

/// A request to a conversion webhook, or its response.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("apiextensions.k8s.io/v1beta1", "ConversionReview"))]
pub struct ConversionReview {
    /// The request to the webhook.
    #[field(proto = 1)]
    pub request: Option<ConversionRequest>,
    /// The response of the webhook.
    #[field(proto = 2)]
    pub response: Option<ConversionResponse>,
}
