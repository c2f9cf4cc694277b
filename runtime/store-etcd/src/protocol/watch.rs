//! Watches.

use super::kv::KeyValue;
use super::{Header, Method};

pub(crate) const WATCH: Method<Request, Answer> = Method::new("/etcdserverpb.Watch/Watch");

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Request {
    #[prost(oneof = "Kind", tags = "1, 3")]
    pub(crate) kind: Option<Kind>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Kind {
    #[prost(message, tag = "1")]
    Create(Create),
    #[prost(message, tag = "3")]
    Progress(Progress),
}

impl From<Kind> for Request {
    fn from(kind: Kind) -> Self {
        Self { kind: Some(kind) }
    }
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Create {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) key: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) range_end: Vec<u8>,
    #[prost(int64, tag = "3")]
    pub(crate) start_revision: i64,
    /// Asks for notifications when nothing changes for minutes.
    #[prost(bool, tag = "4")]
    pub(crate) progress_notify: bool,
    /// Allows that the events of one revision come in several answers.
    #[prost(bool, tag = "8")]
    pub(crate) fragment: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Progress {}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Answer {
    #[prost(message, optional, tag = "1")]
    pub(crate) header: Option<Header>,
    #[prost(bool, tag = "3")]
    pub(crate) created: bool,
    #[prost(bool, tag = "4")]
    pub(crate) canceled: bool,
    /// Other than 0 if the watch ended because changes that it needs are compacted up to here.
    #[prost(int64, tag = "5")]
    pub(crate) compact_revision: i64,
    #[prost(string, tag = "6")]
    pub(crate) cancel_reason: String,
    /// True if the next answer has more events of the same revision.
    #[prost(bool, tag = "7")]
    pub(crate) fragment: bool,
    #[prost(message, repeated, tag = "11")]
    pub(crate) events: Vec<Event>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Event {
    #[prost(enumeration = "EventType", tag = "1")]
    pub(crate) event_type: i32,
    #[prost(message, optional, tag = "2")]
    pub(crate) kv: Option<KeyValue>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub(crate) enum EventType {
    Put = 0,
    Delete = 1,
}
