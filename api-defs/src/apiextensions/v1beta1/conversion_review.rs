//! Questions to conversion webhooks, in their older form.

use crate::apiextensions::v1::{ConversionRequest, ConversionResponse};
use planesmith_machinery::Struct;

/// A question to a conversion webhook, or its answer.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("apiextensions.k8s.io/v1beta1", "ConversionReview"))]
pub struct ConversionReview {
    /// The question.
    #[field(proto = 1)]
    pub request: Option<ConversionRequest>,
    /// The answer.
    #[field(proto = 2)]
    pub response: Option<ConversionResponse>,
}
