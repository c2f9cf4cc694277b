//! `node.k8s.io/v1`: runtime classes.

mod runtime_class;

pub use runtime_class::{Overhead, RuntimeClass, Scheduling};
