//! `node.k8s.io/v1beta1`, which is no longer served.

mod runtime_class;

pub use runtime_class::RuntimeClass;
