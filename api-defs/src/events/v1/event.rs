//! Events in the newer format.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::micro_time::MicroTime;
use planesmith_machinery::object::{Object, Resource as _};
use planesmith_machinery::strategy::StrategyExtensions;
use planesmith_machinery::time::Time;
use planesmith_machinery::validation::{check_metadata, check_metadata_change};
use planesmith_machinery::{Resource, Struct};

use crate::core;
use crate::core::v1::{EventSource, ObjectReference};

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
    version = "v1",
    short("ev"),
    create_on_update,
    expires,
    storage_version = core::v1::Event,
    strategy_extensions
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

/// Later occurrences of an event that keeps recurring.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EventSeries {
    /// Number of occurrences up to the last observation.
    #[field(proto = 1, keep)]
    pub count: i32,
    /// Time of the last observation.
    #[field(proto = 2, keep)]
    pub last_observed_time: MicroTime,
}

impl StrategyExtensions for Event {
    // Checks the stored object, because the errors use the field names of the core group.
    fn validate_as_sent(stored: &dyn Object, errors: &mut FieldErrors) {
        let Some(event) = stored.downcast_ref::<core::v1::Event>() else {
            return;
        };
        let kind = Self::RESOURCE;
        event.check("reportingController", errors);
        check_metadata(&event.metadata, kind.scope, kind.name_rule, Self::METADATA, errors);
        event.check_series(errors);
        if event.event_time.timestamp().is_none() {
            errors.required("eventTime", "");
        }
        if !matches!(event.type_.as_str(), "Normal" | "Warning") {
            errors.invalid("type", "", format!("has invalid value: {}", event.type_));
        }
        let unused = [
            ("firstTimestamp", event.first_timestamp.timestamp().is_none()),
            ("lastTimestamp", event.last_timestamp.timestamp().is_none()),
            ("count", event.count == 0),
            ("source", event.source == EventSource::default()),
        ];
        for (field, unset) in unused {
            if !unset {
                errors.invalid(field, "", "needs to be unset");
            }
        }
    }

    fn validate_update_as_sent(new: &dyn Object, old: &dyn Object, errors: &mut FieldErrors) {
        let (Some(new), Some(old)) = (
            new.downcast_ref::<core::v1::Event>(),
            old.downcast_ref::<core::v1::Event>(),
        ) else {
            return;
        };
        new.check("reportingController", errors);
        check_metadata_change(&new.metadata, &old.metadata, Self::METADATA, errors);
        if new.series != old.series {
            new.check_series(errors);
        }
        // As in kube-apiserver, the reason is checked twice.
        for field in [
            "involvedObject",
            "reason",
            "message",
            "source",
            "firstTimestamp",
            "lastTimestamp",
            "count",
            "reason",
            "type",
            "eventTime",
            "action",
            "related",
            "reportingController",
            "reportingInstance",
        ] {
            new.check_unchanged(field, old, errors);
        }
    }
}
