//! Keys and values.

use super::{Header, Method};

pub(crate) const RANGE: Method<Range, RangeAnswer> = Method::new("/etcdserverpb.KV/Range");
pub(crate) const TXN: Method<Txn, TxnAnswer> = Method::new("/etcdserverpb.KV/Txn");
pub(crate) const COMPACT: Method<Compact, CompactAnswer> = Method::new("/etcdserverpb.KV/Compact");

/// The state of a key; in an event of a deletion only `key` and `mod_revision`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct KeyValue {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) key: Vec<u8>,
    #[prost(int64, tag = "3")]
    pub(crate) mod_revision: i64,
    /// The number of writes since the key was created.
    #[prost(int64, tag = "4")]
    pub(crate) version: i64,
    #[prost(bytes = "vec", tag = "5")]
    pub(crate) value: Vec<u8>,
    /// 0 is none.
    #[prost(int64, tag = "6")]
    pub(crate) lease: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Range {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) key: Vec<u8>,
    /// Empty for one key.
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) range_end: Vec<u8>,
    #[prost(int64, tag = "3")]
    pub(crate) limit: i64,
    /// 0 is the newest.
    #[prost(int64, tag = "4")]
    pub(crate) revision: i64,
    #[prost(bool, tag = "8")]
    pub(crate) keys_only: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RangeAnswer {
    #[prost(message, optional, tag = "1")]
    pub(crate) header: Option<Header>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) kvs: Vec<KeyValue>,
    #[prost(bool, tag = "3")]
    pub(crate) more: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Put {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) key: Vec<u8>,
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) value: bytes::Bytes,
    /// 0 is none.
    #[prost(int64, tag = "3")]
    pub(crate) lease: i64,
    /// True if the key keeps its lease.
    #[prost(bool, tag = "6")]
    pub(crate) ignore_lease: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DeleteRange {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) key: Vec<u8>,
    /// Empty for one key.
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) range_end: Vec<u8>,
}

/// One operation of a transaction.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Operation {
    #[prost(oneof = "Request", tags = "1, 2, 3")]
    pub(crate) request: Option<Request>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Request {
    #[prost(message, tag = "1")]
    Range(Range),
    #[prost(message, tag = "2")]
    Put(Put),
    #[prost(message, tag = "3")]
    DeleteRange(DeleteRange),
}

impl From<Request> for Operation {
    fn from(request: Request) -> Self {
        Self { request: Some(request) }
    }
}

/// The result of one operation. Only ranges are read.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct OperationAnswer {
    #[prost(message, optional, tag = "1")]
    pub(crate) range: Option<RangeAnswer>,
}

/// A condition of a transaction.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Compare {
    #[prost(enumeration = "Comparison", tag = "1")]
    pub(crate) comparison: i32,
    #[prost(enumeration = "Attribute", tag = "2")]
    pub(crate) attribute: i32,
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) key: Vec<u8>,
    #[prost(oneof = "Operand", tags = "4, 6")]
    pub(crate) operand: Option<Operand>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub(crate) enum Comparison {
    Equal = 0,
    Greater = 1,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub(crate) enum Attribute {
    Version = 0,
    ModRevision = 2,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Operand {
    #[prost(int64, tag = "4")]
    Version(i64),
    #[prost(int64, tag = "6")]
    ModRevision(i64),
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Txn {
    #[prost(message, repeated, tag = "1")]
    pub(crate) compare: Vec<Compare>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) success: Vec<Operation>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) failure: Vec<Operation>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct TxnAnswer {
    #[prost(message, optional, tag = "1")]
    pub(crate) header: Option<Header>,
    #[prost(bool, tag = "2")]
    pub(crate) succeeded: bool,
    #[prost(message, repeated, tag = "3")]
    pub(crate) answers: Vec<OperationAnswer>,
}

impl TxnAnswer {
    /// Returns the key that the only operation of the transaction read, if it exists.
    pub(crate) fn found(self) -> Option<KeyValue> {
        self.answers.into_iter().next()?.range?.kvs.into_iter().next()
    }
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Compact {
    #[prost(int64, tag = "1")]
    pub(crate) revision: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CompactAnswer {}
