//! The messages and methods of etcd's API, version 3, that this crate uses.
//!
//! They are declared by hand, so that a build needs no compiler of protocol files. Fields that are never read are left
//! out.

pub(crate) mod kv;
pub(crate) mod lease;
pub(crate) mod maintenance;
pub(crate) mod watch;

use std::marker::PhantomData;

/// One remote procedure, with the types of its request and answer.
pub(crate) struct Method<Q, A> {
    pub(crate) path: &'static str,
    types: PhantomData<fn(Q) -> A>,
}

impl<Q, A> Method<Q, A> {
    const fn new(path: &'static str) -> Self {
        Self {
            path,
            types: PhantomData,
        }
    }
}

/// The part of every answer that says when it was given.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct Header {
    /// The revision of the whole store at the time of the answer.
    #[prost(int64, tag = "3")]
    pub(crate) revision: i64,
    /// Grows with every election of a leader.
    #[prost(uint64, tag = "4")]
    pub(crate) raft_term: u64,
}
