//! A server's life: [`Config`] -> [`CompletedConfig`] -> [`PreparedServer`] -> running -> stopped.
//!
//! Each step is a type, so that no earlier step can be left out.

mod config;
mod debug_socket;
mod front;
mod outside;
mod prepared;
mod signals;

pub use config::{CompletedConfig, Config, ConfigError};
pub use front::Front;
pub use prepared::{PreparedServer, RunError};
pub use signals::{Signal, Signals};

#[cfg(test)]
mod tests;
