//! Reviews by admission webhooks, in v1beta1.

use crate::admission::v1::{AdmissionRequest, AdmissionResponse};
use planesmith_machinery::Struct;

/// A request to an admission webhook, or its response.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("admission.k8s.io/v1beta1", "AdmissionReview"))]
pub struct AdmissionReview {
    /// The request to the webhook.
    #[field(proto = 1)]
    pub request: Option<AdmissionRequest>,
    /// The response of the webhook.
    #[field(proto = 2)]
    pub response: Option<AdmissionResponse>,
}
