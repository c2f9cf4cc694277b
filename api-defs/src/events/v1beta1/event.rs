//! Events in a version that is no longer served.

use crate::core;
use crate::core::v1::{EventSource, ObjectReference};
use crate::events::v1::EventSeries;
use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::micro_time::MicroTime;
use planesmith_machinery::time::Time;

/// A report about an object. Events are deleted after a short time and may be lost, so nothing should depend on them.
/// They are stored together with the events of the core group.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(selectable(
    "reason",
    "regarding.kind",
    "regarding.namespace",
    "regarding.name",
    "regarding.uid",
    "regarding.apiVersion",
    "regarding.resourceVersion",
    "regarding.fieldPath",
    "reportingController",
    "type"
))]
#[resource(
    group = "events.k8s.io",
    version = "v1beta1",
    short("ev"),
    name_rule = path_segment,
    create_on_update,
    expires,
    storage_version = core::v1::Event,
    unserved,
    deprecated = "events.k8s.io/v1beta1 Event is deprecated in v1.22+, unavailable in v1.25+"
)]
pub struct Event {
    /// Standard metadata.
    #[field(proto = 1, keep, optional)]
    pub metadata: ObjectMeta,
    /// Time of the first observation, in microseconds.
    #[field(proto = 2, keep)]
    pub event_time: MicroTime,
    /// Later occurrences of the event. Absent for a single occurrence.
    #[field(proto = 3)]
    pub series: Option<EventSeries>,
    /// Name of the reporting controller, such as kubernetes.io/kubelet. Must not be empty in new events.
    #[field(proto = 4, moved_to = "reportingComponent")]
    pub reporting_controller: String,
    /// Instance of the reporting controller, such as kubelet-xyzf. At most 128 characters.
    #[field(proto = 5)]
    pub reporting_instance: String,
    /// Action that was taken or that failed, such as Binding. At most 128 characters.
    #[field(proto = 6)]
    pub action: String,
    /// Short CamelCase reason, such as Started. At most 128 characters.
    #[field(proto = 7)]
    pub reason: String,
    /// The object that the event is about.
    #[field(proto = 8, moved_to = "involvedObject")]
    pub regarding: ObjectReference,
    /// A second object that is involved.
    #[field(proto = 9)]
    pub related: Option<ObjectReference>,
    /// Human-readable description of the event. At most 1 kB.
    #[field(proto = 10, moved_to = "message")]
    pub note: String,
    /// Type of the event: Normal or Warning. More types may be added.
    #[field(proto = 11)]
    pub type_: String,
    /// Reporter, in the format of the core group.
    #[field(proto = 12, moved_to = "source")]
    pub deprecated_source: EventSource,
    /// Time of the first occurrence, in the format of the core group.
    #[field(proto = 13, moved_to = "firstTimestamp")]
    pub deprecated_first_timestamp: Time,
    /// Time of the last occurrence, in the format of the core group.
    #[field(proto = 14, moved_to = "lastTimestamp")]
    pub deprecated_last_timestamp: Time,
    /// Number of occurrences, in the format of the core group.
    #[field(proto = 15, moved_to = "count")]
    pub deprecated_count: i32,
}
