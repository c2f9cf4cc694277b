//! Leases: keys that are attached to one are deleted when it ends.

use super::Method;

pub(crate) const GRANT: Method<Grant, GrantAnswer> = Method::new("/etcdserverpb.Lease/LeaseGrant");

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Grant {
    /// Seconds.
    #[prost(int64, tag = "1")]
    pub(crate) ttl: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct GrantAnswer {
    #[prost(int64, tag = "2")]
    pub(crate) id: i64,
    /// Seconds that the server grants; at least its minimum.
    #[prost(int64, tag = "3")]
    pub(crate) ttl: i64,
}
