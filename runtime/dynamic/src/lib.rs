//! Kinds that are known at run time, and documents that become objects without a type of their own.
//!
//! Reading order: [`structural`] (schemas: defaults, pruning, validation), [`custom`] (kinds with such a schema, their objects
//! and versions), [`unstructured`] (documents as typed objects, by the rules of kube-apiserver's converter).

pub mod custom;
pub mod structural;
pub mod unstructured;
