//! `scheduling.k8s.io/v1`.

mod priority_class;

pub use priority_class::PriorityClass;
