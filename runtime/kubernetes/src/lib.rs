//! The behaviour of Kubernetes' built-in kinds beyond being stored: the [`COMPONENT`] of a program that serves them,
//! and its [`ADMISSION`] plugins.
//!
//! Reading order: `component` (the contribution to a server), [`options`] (flags), `admission`, `bootstrap`,
//! `controllers`, then the behaviour of single kinds: `pods` and `connect`, `services` and `service_addresses`,
//! `certificate_requests`, `component_statuses`, `flows`, `token_key`.

mod admission;
mod bootstrap;
mod certificate_requests;
mod component;
mod component_statuses;
mod connect;
mod controllers;
mod device_admin_access;
mod features;
mod flows;
#[cfg(test)]
mod memory_stores;
mod node_authorizer;
pub mod options;
mod pods;
mod secrets_of_pods;
mod service_addresses;
mod services;
mod token_key;

pub use admission::ADMISSION;
pub use component::COMPONENT;
