//! `admission.k8s.io/v1`: the protocol between the server and admission webhooks.

mod admission_review;

pub use admission_review::{AdmissionRequest, AdmissionResponse, AdmissionReview};
