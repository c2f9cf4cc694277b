//! Leases: keys that are attached to one are deleted when it ends.

use super::Method;

pub(crate) const GRANT: Method<Grant, GrantAnswer> = Method::new("/etcdserverpb.Lease/LeaseGrant");

pub(crate) const TIME_TO_LIVE: Method<TimeToLive, TimeToLiveAnswer> =
    Method::new("/etcdserverpb.Lease/LeaseTimeToLive");

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

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct TimeToLive {
    #[prost(int64, tag = "1")]
    pub(crate) id: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct TimeToLiveAnswer {
    /// Remaining seconds; negative for a lease that has ended.
    #[prost(int64, tag = "3")]
    pub(crate) ttl: i64,
}
