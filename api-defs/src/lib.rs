//! The built-in Kubernetes groups as Rust structs: one folder per group and version, one file per kind.
//!
//! A file contains the structure of a kind (names, protobuf tags, list types, descriptions) and the strategy, for what a table
//! cannot express: defaults that depend on other fields, fields that clients cannot set, validation, columns.

#[cfg(any(feature = "apiextensions", feature = "rbac"))]
mod created_at;
#[cfg(feature = "kubernetes")]
mod selector_text;
#[cfg(feature = "kubernetes")]
mod semantic_version;

#[cfg(feature = "admissionregistration")]
pub mod admission;
#[cfg(feature = "admissionregistration")]
pub mod admissionregistration;
#[cfg(feature = "kubernetes")]
pub mod apidiscovery;
#[cfg(feature = "apiextensions")]
pub mod apiextensions;
#[cfg(feature = "apiregistration")]
pub mod apiregistration;
#[cfg(feature = "kubernetes")]
pub mod apiserverinternal;
#[cfg(feature = "kubernetes")]
pub mod apps;
pub mod authentication;
#[cfg(feature = "rbac")]
pub mod authorization;
#[cfg(feature = "kubernetes")]
pub mod autoscaling;
#[cfg(feature = "kubernetes")]
pub mod batch;
pub mod certificates;
pub mod coordination;
pub mod core;
#[cfg(feature = "kubernetes")]
pub mod discovery;
#[cfg(feature = "kubernetes")]
pub mod events;
#[cfg(feature = "kubernetes")]
pub mod extensions;
pub mod features;
#[cfg(feature = "kubernetes")]
pub mod flowcontrol;
#[cfg(feature = "kubernetes")]
pub mod imagepolicy;
#[cfg(feature = "kubernetes")]
pub mod networking;
#[cfg(feature = "kubernetes")]
pub mod node;
#[cfg(feature = "kubernetes")]
pub mod policy;
#[cfg(feature = "rbac")]
pub mod rbac;
#[cfg(feature = "kubernetes")]
pub mod resource;
#[cfg(feature = "testing")]
pub mod samples;
#[cfg(feature = "kubernetes")]
pub mod scheduling;
#[cfg(feature = "kubernetes")]
pub mod storage;
#[cfg(feature = "kubernetes")]
pub mod storagemigration;
