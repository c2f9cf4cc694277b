//! The core server: its flags, its certificates, the chain of servers, and what built-in kinds need beyond their
//! definition.
//!
//! Reading order: [`options`] (flags), then [`run`](crate::run), which shows a server's life from start to end.

pub mod certificates;
pub mod kubeconfig;
pub mod logging;
pub mod options;
pub mod private_file;
