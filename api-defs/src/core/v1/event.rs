//! Events.

mod columns;
#[cfg(feature = "kubernetes")]
mod events_group;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::micro_time::MicroTime;
use planesmith_machinery::names;
use planesmith_machinery::object::Object;
use planesmith_machinery::selector::{FieldAlias, FieldLabels, FieldRefusal};
use planesmith_machinery::strategy::{Dependents, MetadataRules, StrategyExtensions, UpdateStep};
use planesmith_machinery::time::Time;
use planesmith_machinery::{Resource, Struct};

use super::ObjectReference;

/// Maximum length of `reportingInstance`, `action` and `reason` in bytes, for events with an event time.
const MAX_WORD: usize = 128;

/// Maximum length of `message` in bytes, for events with an event time.
const MAX_NOTE: usize = 1024;

/// A report about an object. Events are deleted after a short time and may be lost, so nothing should depend on them.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "", version = "v1", short("ev"), name_rule = path_segment, create_on_update, expires, strategy_extensions)]
#[resource(selectable(
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "type"
))]
#[resource(
    column(name = "Last Seen", type = "string", doc = "Time since the last occurrence.", with = columns::last_seen),
    column(name = "Type", type = "string", doc = "Normal or Warning.", path = "type"),
    column(name = "Reason", type = "string", doc = "CamelCase reason.", path = "reason"),
    column(name = "Object", type = "string", doc = "The object that the event is about.", with = columns::object),
    column(name = "Subobject", type = "string", doc = "The part of the object that it is about.", priority = 1, path = "involvedObject.fieldPath"),
    column(name = "Source", type = "string", doc = "The reporter.", priority = 1, with = columns::source),
    column(name = "Message", type = "string", doc = "Human-readable description.", with = columns::message),
    column(name = "First Seen", type = "string", doc = "Time since the first occurrence.", priority = 1, with = columns::first_seen),
    column(name = "Count", type = "string", doc = "Number of occurrences.", priority = 1, with = columns::count),
    column(name = "Name", type = "string", format = "name", doc = "Name of the event.", priority = 1, path = "metadata.name")
)]
pub struct Event {
    /// Standard metadata.
    #[field(proto = 1, keep)]
    pub metadata: ObjectMeta,
    /// The object that the event is about. Its namespace is that of the event.
    #[field(proto = 2, keep)]
    pub involved_object: ObjectReference,
    /// Short CamelCase reason, such as Started.
    #[field(proto = 3)]
    pub reason: String,
    /// Human-readable description of the event.
    #[field(proto = 4)]
    pub message: String,
    /// Reporter of the event, set by older clients. Newer clients set reportingComponent and reportingInstance.
    #[field(proto = 5)]
    pub source: EventSource,
    /// Time of the first occurrence.
    #[field(proto = 6)]
    pub first_timestamp: Time,
    /// Time of the last occurrence.
    #[field(proto = 7)]
    pub last_timestamp: Time,
    /// Number of occurrences.
    #[field(proto = 8)]
    pub count: i32,
    /// Type of the event: Normal or Warning. More types may be added.
    #[field(name = "type", proto = 9)]
    pub type_: String,
    /// Time of the first observation, in microseconds. Set by newer clients; more fields are required then.
    #[field(proto = 10)]
    pub event_time: MicroTime,
    /// Later occurrences of the event. Absent for a single occurrence.
    #[field(proto = 11)]
    pub series: Option<EventSeries>,
    /// Action that was taken or that failed, such as Binding.
    #[field(proto = 12)]
    pub action: String,
    /// A second object that is involved.
    #[field(proto = 13)]
    pub related: Option<ObjectReference>,
    /// Name of the reporting controller, such as kubernetes.io/kubelet.
    #[field(proto = 14, keep, optional, go_name = "ReportingController")]
    pub reporting_component: String,
    /// Instance of the reporting controller, such as kubelet-xyzf.
    #[field(proto = 15, keep, optional)]
    pub reporting_instance: String,
}

/// Reporter of an event.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EventSource {
    /// Name of the reporting component.
    #[field(proto = 1)]
    pub component: String,
    /// Name of the node on which the component runs.
    #[field(proto = 2)]
    pub host: String,
}

/// Later occurrences of an event that keeps recurring.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EventSeries {
    /// Number of occurrences up to the last observation.
    #[field(proto = 1)]
    pub count: i32,
    /// Time of the last observation.
    #[field(proto = 2)]
    pub last_observed_time: MicroTime,
}

impl StrategyExtensions for Event {
    // The rules for events depend on the version of the request, including those for metadata.
    const METADATA: MetadataRules = MetadataRules::None;

    const DEPENDENTS: Dependents = Dependents::Impossible;
    const UPDATE_ORDER: &'static [UpdateStep] = &[UpdateStep::Declared];

    const FIELD_LABELS: FieldLabels = FieldLabels {
        aliases: &[FieldAlias {
            name: "source",
            paths: &["source.component", "reportingComponent"],
        }],
        refusal: FieldRefusal::Field,
        ..FieldLabels::NONE
    };

    fn validate_as_sent(stored: &dyn Object, errors: &mut FieldErrors) {
        let Some(event) = stored.downcast_ref::<Self>() else {
            return;
        };
        event.check("reportingComponent", errors);
    }

    fn validate_update_as_sent(new: &dyn Object, _old: &dyn Object, errors: &mut FieldErrors) {
        Self::validate_as_sent(new, errors);
    }
}

impl Event {
    /// Checks the rules for all events; `controller` is the field name of the reporting controller in the event's
    /// version.
    pub(crate) fn check(&self, controller: &'static str, errors: &mut FieldErrors) {
        if self.event_time.timestamp().is_none() {
            self.check_old_style(errors);
        } else {
            self.check_new_style(controller, errors);
        }
        for problem in names::dns_subdomain(&self.metadata.namespace) {
            errors.invalid("namespace", self.metadata.namespace.as_str(), problem);
        }
    }

    fn check_old_style(&self, errors: &mut FieldErrors) {
        let (own, involved) = (
            self.metadata.namespace.as_str(),
            self.involved_object.namespace.as_str(),
        );
        let agrees = match involved {
            "" => matches!(own, "" | "default"),
            involved => involved == own,
        };
        if !agrees {
            errors.invalid("involvedObject.namespace", involved, "does not match event.namespace");
        }
    }

    fn check_new_style(&self, controller_field: &'static str, errors: &mut FieldErrors) {
        let (own, involved) = (
            self.metadata.namespace.as_str(),
            self.involved_object.namespace.as_str(),
        );
        if involved.is_empty() && !matches!(own, "default" | "kube-system") {
            errors.invalid("involvedObject.namespace", involved, "does not match event.namespace");
        }
        let controller = self.reporting_component.as_str();
        if controller.is_empty() {
            errors.required(controller_field, "");
        }
        for problem in names::qualified_name(controller) {
            errors.invalid(controller_field, controller, problem);
        }
        let words = [
            ("reportingInstance", &self.reporting_instance),
            ("action", &self.action),
            ("reason", &self.reason),
        ];
        for (field, word) in words {
            if word.is_empty() {
                errors.required(field, "");
            }
            if word.len() > MAX_WORD {
                errors.invalid(field, "", format!("can have at most {MAX_WORD} characters"));
            }
        }
        if self.message.len() > MAX_NOTE {
            errors.invalid("message", "", format!("can have at most {MAX_NOTE} characters"));
        }
    }
}
