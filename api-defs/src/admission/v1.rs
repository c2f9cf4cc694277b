//! `admission.k8s.io/v1`: what the server and admission webhooks say to each other.

mod admission_review;

pub use admission_review::{AdmissionRequest, AdmissionResponse, AdmissionReview};
