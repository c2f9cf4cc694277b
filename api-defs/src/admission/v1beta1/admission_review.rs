//! Questions to admission webhooks, in their older form.

use crate::admission::v1::{AdmissionRequest, AdmissionResponse};
use planesmith_machinery::Struct;

/// A question to an admission webhook, or its answer.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("admission.k8s.io/v1beta1", "AdmissionReview"))]
pub struct AdmissionReview {
    /// The question.
    #[field(proto = 1)]
    pub request: Option<AdmissionRequest>,
    /// The answer.
    #[field(proto = 2)]
    pub response: Option<AdmissionResponse>,
}
