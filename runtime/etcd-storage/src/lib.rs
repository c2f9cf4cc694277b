//! Objects in an etcd, which other servers use, too: kube-apiserver's flags for it. A program lists [`COMPONENT`] to have them.
//!
//! Reading order: `options` (the flags), `component`.

mod component;
mod options;

pub use component::COMPONENT;
