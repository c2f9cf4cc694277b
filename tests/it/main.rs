//! End-to-end tests of the server binaries.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "all of this is test code: a failure may stop it anywhere, and its seed is printed"
)]

mod access;
mod aggregation;
mod audit;
mod authentication;
mod authorization;
mod availability;
mod bad_input;
mod base64;
mod cbor;
mod clients;
mod cluster;
mod conversion;
mod crash;
mod definitions;
mod documents;
mod egress;
mod endpoints;
mod flow_control;
mod full_disk;
mod kubectl;
mod linked_packages;
mod metrics;
mod objects;
mod openapi;
mod peer;
mod policies;
mod security;
mod sent_objects;
mod shutdown;
mod start;
mod storage_versions;
mod store;
mod streams;
mod tls_server;
mod traces;
mod transcript;
mod webhooks;
mod wire_details;
