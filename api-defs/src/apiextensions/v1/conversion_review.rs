//! Reviews by conversion webhooks.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::Status;
use planesmith_machinery::raw::RawExtension;

/// A request to a conversion webhook, or its response.
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

/// Objects to convert to another version.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ConversionRequest {
    /// ID of the review, which the response repeats.
    #[field(proto = 1, keep, go_type = "types.UID")]
    pub uid: String,
    /// Target version, such as example.com/v1.
    #[field(name = "desiredAPIVersion", proto = 2, keep)]
    pub desired_api_version: String,
    /// Complete objects to convert, in any version of the kind.
    #[field(proto = 3, keep, list_type = atomic)]
    pub objects: Vec<RawExtension>,
}

/// Converted objects.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ConversionResponse {
    /// The uid of the request. A response with a different uid is refused.
    #[field(proto = 1, keep, go_type = "types.UID")]
    pub uid: String,
    /// Converted objects in the order of the request. Empty when the result is a failure.
    #[field(proto = 2, keep, list_type = atomic)]
    pub converted_objects: Vec<RawExtension>,
    /// Success, or a failure whose message is returned to the client of the API server.
    #[field(proto = 3, keep)]
    pub result: Status,
}
