//! Starts real servers as separate processes and talks to them the way clients do.
//!
//! The tests in `it/` and `cargo xtask bench` share this crate. It must never know anything of a
//! server but its flags, what it prints, and what it answers: whatever is proven here is proven
//! about the binary that users run.

pub mod binary;
pub mod body;
pub mod connection;
pub mod endpoint;
pub mod server;
pub mod skip;
pub mod watch;

pub use binary::Binary;
pub use connection::{Answer, Connection};
pub use endpoint::Endpoint;
pub use server::{Home, Server};
pub use watch::Watch;
