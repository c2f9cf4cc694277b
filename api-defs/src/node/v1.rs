//! `node.k8s.io/v1`: ways of running containers.

mod runtime_class;

pub use runtime_class::{Overhead, RuntimeClass, Scheduling};
