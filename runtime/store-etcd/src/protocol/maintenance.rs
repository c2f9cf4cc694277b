//! The state of a member.

use super::{Header, Method};

pub(crate) const STATUS: Method<Status, StatusAnswer> = Method::new("/etcdserverpb.Maintenance/Status");

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Status {}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct StatusAnswer {
    #[prost(message, optional, tag = "1")]
    pub(crate) header: Option<Header>,
    #[prost(string, tag = "2")]
    pub(crate) version: String,
    /// Bytes that the file of the member has on disk.
    #[prost(int64, tag = "3")]
    pub(crate) db_size: i64,
    /// 0 if the member knows no leader.
    #[prost(uint64, tag = "4")]
    pub(crate) leader: u64,
    /// Alarms and other faults.
    #[prost(string, repeated, tag = "8")]
    pub(crate) errors: Vec<String>,
}
