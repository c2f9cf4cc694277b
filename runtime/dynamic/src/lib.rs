//! Kinds that are defined at run time, and documents that become objects without a Rust type.
//!
//! Reading order: [`structural`] (schemas: defaults, pruning, validation), [`custom`] (kinds with such a schema, their objects
//! and versions), [`unstructured`] (documents as typed objects, by the rules of kube-apiserver's converter).

pub mod custom;
pub mod structural;
#[cfg(feature = "testing")]
pub mod testing;
pub mod unstructured;
