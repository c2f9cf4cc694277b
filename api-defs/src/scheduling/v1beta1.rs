//! `scheduling.k8s.io/v1beta1`, which is no longer served.

mod priority_class;

pub use priority_class::PriorityClass;
