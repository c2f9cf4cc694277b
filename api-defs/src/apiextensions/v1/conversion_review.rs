//! Questions to conversion webhooks.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::Status;
use planesmith_machinery::raw::RawExtension;

/// A question to a conversion webhook, or its answer.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("apiextensions.k8s.io/v1", "ConversionReview"))]
pub struct ConversionReview {
    /// The request of the API server: objects to convert and the target version.
    #[field(proto = 1)]
    pub request: Option<ConversionRequest>,
    /// The response of the webhook: the converted objects, or the reason of the failure.
    #[field(proto = 2)]
    pub response: Option<ConversionResponse>,
}

/// Objects that are to get into another version.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ConversionRequest {
    /// Tells this question apart from others; the answer repeats it.
    #[field(proto = 1, keep, go_type = "types.UID")]
    pub uid: String,
    /// The version that is wanted, such as example.com/v1.
    #[field(name = "desiredAPIVersion", proto = 2, keep)]
    pub desired_api_version: String,
    /// The objects to convert, whole, in any of the kind's versions.
    #[field(proto = 3, keep, list_type = atomic)]
    pub objects: Vec<RawExtension>,
}

/// Objects in another version.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ConversionResponse {
    /// The uid of the request that this answers; an answer with another one is refused.
    #[field(proto = 1, keep, go_type = "types.UID")]
    pub uid: String,
    /// The objects in the order of the question; empty when the result is a failure.
    #[field(proto = 2, keep, list_type = atomic)]
    pub converted_objects: Vec<RawExtension>,
    /// Success, or the reason of the failure in its message, which the client of the API server is shown.
    #[field(proto = 3, keep)]
    pub result: Status,
}
