//! `imagepolicy.k8s.io`: reviews of images.

pub mod v1alpha1;
