//! Authorization by webhooks (`--authorization-webhook-config-file`), and by a chain of authorizers that a file configures
//! (`--authorization-config`). A program lists [`COMPONENT`] to have these flags.
//!
//! Reading order: `component`, `options` (the flags), `configuration` (the file, and its rules), `webhook` (one authorizer of it),
//! `chain` (all of them), `reload` (a chain that follows its file).

mod chain;
mod component;
mod configuration;
mod options;
mod reload;
mod webhook;

pub use component::COMPONENT;
