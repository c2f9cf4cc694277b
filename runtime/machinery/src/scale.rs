//! The scale subresource of kinds that have replicas.

pub mod v1;
