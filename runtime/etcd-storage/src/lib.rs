//! Objects in an etcd, which other servers use, too: kube-apiserver's flags for it. A program lists [`COMPONENT`] to have them.
//!
//! Reading order: `options` (the flags), `connection`, `egress_dial`, `component`, `scheme` (the store that commands
//! copy from and to), `whole_store` (its content).

mod component;
mod connection;
mod egress_dial;
mod options;
mod scheme;
mod whole_store;

pub use component::COMPONENT;
