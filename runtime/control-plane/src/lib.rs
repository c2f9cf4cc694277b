//! The core server: its flags, its certificates, the chain of servers, and what built-in kinds need beyond their
//! definition.
//!
//! Reading order: [`run`](run()) (a server's life from start to end), [`options`] (flags), [`program`] (what a binary is made
//! of) and [`enablement`] (what of it is on), then what a start does: [`identity`], [`authentication`], [`admission`],
//! [`bootstrap`], [`controllers`].

pub mod admission;
mod allocator;
mod apart;
mod api_services;
pub mod authentication;
pub mod bare;
pub mod bootstrap;
mod certificate_requests;
pub mod certificates;
mod commands;
mod component_statuses;
mod connect;
pub mod controllers;
mod custom_resources;
mod data_folder;
mod delegation;
mod descriptors;
pub mod enablement;
mod event_post;
pub mod feature_gates;
mod flows;
mod host_address;
pub mod identity;
pub mod kubeconfig;
mod later;
pub mod live_kinds;
pub mod logging;
pub mod loopback;
#[cfg(test)]
mod memory_stores;
pub mod namespaces;
mod objects;
pub mod options;
mod periodic;
mod pods;
pub mod private_file;
pub mod program;
mod reconciler;
pub mod reviews;
mod run;
mod running;
pub mod service_accounts;
pub mod service_addresses;
mod services;
mod subresources;
mod trace_export;
mod work_queue;

pub use program::{Documents, GroupVersion, Program};
pub use run::run;
