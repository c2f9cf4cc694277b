//! `imagepolicy.k8s.io`: whether images may be used.

pub mod v1alpha1;
