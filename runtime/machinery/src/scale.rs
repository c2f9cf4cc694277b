//! The scale subresource of anything that has replicas: the one kind beside metadata that generic servers speak.

pub mod v1;
