//! `internal.apiserver.k8s.io`: data that API servers share with each other.

pub mod v1alpha1;
