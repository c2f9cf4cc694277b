//! A store in etcd, in which others write, too: kube-apiserver's keys, leases and compaction protocol.
//!
//! [`Etcd`] is a [`Backend`](planesmith_store::backend::Backend). It speaks to one member at a time and goes on with
//! another one when that does not answer.
//!
//! Stored bytes are passed on as they are: this crate knows nothing of their meaning.

mod backend;
mod bulk;
mod channel;
mod client;
mod compactor;
mod config;
mod dial;
mod etcd;
mod failure;
mod feed;
mod keys;
mod leases;
mod load;
mod members;
mod monitor;
mod protocol;
mod transaction;
mod version;

pub use bulk::{BulkError, Snapshot, SnapshotState};
pub use config::{Config, ConfigError};
pub use dial::{Dial, Stream};
pub use etcd::{ConnectError, Etcd};
