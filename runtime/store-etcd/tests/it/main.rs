//! Stores on real etcd servers, which the tests start. Without etcd they fail; on a machine without it,
//! `PLANESMITH_WITHOUT_ETCD=1` skips them, and says so.

#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]
#![allow(clippy::print_stderr, reason = "a skipped test says so")]

mod bulk;
mod conformance;
mod duties;
mod members;
mod secure;
mod server;
