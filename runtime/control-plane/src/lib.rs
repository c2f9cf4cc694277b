//! The parts that every server needs: its flags, its certificates, the chain of servers, and the seam for what a
//! program adds ([`component`]).
//!
//! Reading order: [`run`](run()) (the process), [`server`] (a server's life from start to end), [`options`] (flags), [`program`] (the parts of
//! a binary), [`component`] (the additions of a program) and [`enablement`] (the enabled resources), then the steps
//! of a start: [`identity`], [`authentication`], [`admission`], [`bootstrap`], [`controllers`].

pub mod access_reviews;
pub mod admission;
mod allocator;
mod assembly;
pub mod authentication;
pub mod authorization;
pub mod base_groups;
pub mod bootstrap;
pub mod certificates;
mod commands;
pub mod component;
pub mod component_state;
pub mod conditions;
pub mod controllers;
mod data_folder;
pub mod dedicated_runtime;
pub mod default_roles;
pub mod delaying_queue;
mod delegation;
pub mod descriptors;
pub mod enablement;
pub mod event_post;
pub mod feature_gates;
pub mod followed_file;
pub mod group_priorities;
pub mod group_version;
mod host_address;
pub mod identity;
pub mod kubeconfig;
mod leadership;
pub mod live_kinds;
pub mod logging;
pub mod loopback;
pub mod namespaces;
pub mod options;
pub mod periodic;
pub mod private_file;
pub mod program;
pub mod reconciler;
pub mod reloadable;
pub mod resource_client;
mod run;
mod running;
pub mod server;
mod server_routes;
pub mod service_accounts;
pub mod service_resolver;
mod shared_store;
mod storage;
mod store_api;
pub mod store_scheme;
pub mod store_transformation;
mod subresources;
pub mod token_bucket;
mod work_queue;
mod workers;

pub use allocator::{ALLOCATOR, Allocator};
pub use component::Component;
pub use delegation::Host;
pub use group_version::GroupVersion;
pub use program::{Documents, Program};
pub use run::run;
pub use server::Server;
pub use shared_store::SharedStore;
pub use store_scheme::{OpenStore, StoreScheme};
pub use store_transformation::StoreTransformation;
