//! `internal.apiserver.k8s.io`: what API servers tell each other.

pub mod v1alpha1;
