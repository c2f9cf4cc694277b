//! Objects in an etcd, which other servers use, too: kube-apiserver's flags for it. A program lists [`COMPONENT`] to have them.
//!
//! Reading order: `options` (the flags), `connection`, `component`, `scheme` (the store that commands copy from and to), `whole_store` (its
//! content).

mod component;
mod connection;
mod options;
mod scheme;
mod selected;
mod whole_store;

pub use component::COMPONENT;
