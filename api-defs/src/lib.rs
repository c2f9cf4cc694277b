//! The built-in Kubernetes groups as Rust structs: one folder per group and version, one file per kind.
//!
//! A file contains the structure of a kind (names, protobuf tags, list types, descriptions) and the rules that a table
//! cannot express: defaults that depend on other fields, fields that clients cannot set, validation, columns.

mod created_at;
mod selector_text;
mod semantic_version;
mod workload;

pub mod admission;
pub mod admissionregistration;
pub mod apidiscovery;
pub mod apiextensions;
pub mod apiregistration;
pub mod apiserverinternal;
pub mod apps;
pub mod authentication;
pub mod authorization;
pub mod autoscaling;
pub mod batch;
pub mod certificates;
pub mod coordination;
pub mod core;
pub mod discovery;
pub mod events;
pub mod extensions;
pub mod features;
pub mod flowcontrol;
pub mod imagepolicy;
pub mod networking;
pub mod node;
pub mod policy;
pub mod rbac;
pub mod resource;
pub mod scheduling;
pub mod storage;
pub mod storagemigration;
