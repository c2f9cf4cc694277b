//! One API server: requests, routes, filters, discovery, health and lifecycle.
//!
//! Reading order: [`lifecycle`] (from a configuration to a running server), [`chain`] (servers that delegate the
//! requests that they do not serve), [`filters`] (the processing of every request), [`request`] (the parsed request),
//! [`routes`] (the lookup of an endpoint), [`endpoint`] (one kind in one version), [`verbs`] (the answers), [`stores`]
//! (the state that endpoints share). Modules use each other in one direction; ARCHITECTURE.md has their order.

pub mod audit;
pub mod body;
mod build_id;
pub mod chain;
mod compression;
pub mod connection;
pub mod discovery;
mod draining;
mod early_version;
mod encodings;
pub mod endpoint;
mod failure;
pub mod features;
pub mod filters;
pub mod flow_control;
pub mod generated_name;
mod header_text;
pub mod health;
pub mod hooks;
pub mod in_flight;
pub mod installation;
mod large_bodies;
pub mod lifecycle;
pub mod list_stream;
pub mod listener;
pub mod metrics;
pub mod negotiation;
mod offload;
pub mod openapi;
mod options;
pub mod own_task;
mod process_pages;
pub mod proxy;
mod random;
mod representation;
pub mod request;
pub mod reservations;
pub mod response;
pub mod routes;
pub mod sending;
pub mod shutdown;
mod signatures;
pub mod stores;
mod table;
pub mod task;
pub mod trace;
mod trust_anchors;
pub mod verbs;
pub mod version;
mod watch_places;
pub mod websocket;
mod write;

pub use offload::block_in_place;
