//! `node.k8s.io/v1alpha1`, which is no longer served.

mod runtime_class;

pub use runtime_class::{RuntimeClass, RuntimeClassSpec};
