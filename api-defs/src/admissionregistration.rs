//! `admissionregistration.k8s.io`: who else judges what clients write.

pub mod v1;
pub mod v1alpha1;
pub mod v1beta1;
