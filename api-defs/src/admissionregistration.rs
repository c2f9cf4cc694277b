//! `admissionregistration.k8s.io`: webhooks and policies that admit or change requests.

pub mod v1;
pub mod v1alpha1;
pub mod v1beta1;
