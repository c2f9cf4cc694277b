//! Starts real servers as separate processes and accesses them as clients do.
//!
//! The tests in `it/` and `cargo xtask bench` share this crate. It knows only a server's flags, output and responses, so that
//! its results hold for the binaries that users run.

pub mod binary;
pub mod body;
pub mod connection;
pub mod endpoint;
pub mod server;
pub mod skip;
pub mod watch;

pub use binary::Binary;
pub use body::RequestBody;
pub use connection::{Answer, Connection};
pub use endpoint::Endpoint;
pub use server::{Home, Server};
pub use watch::Watch;
