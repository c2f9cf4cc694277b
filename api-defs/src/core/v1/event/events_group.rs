//! Checks of events that come as `events.k8s.io`.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;

use super::Event;

impl Event {
    /// Checks the series of an event in the new style.
    pub(crate) fn check_series(&self, errors: &mut FieldErrors) {
        let Some(series) = &self.series else { return };
        if series.count < 2 {
            errors.invalid("series.count", "", "should be at least 2");
        }
        if series.last_observed_time.timestamp().is_none() {
            errors.required("series.lastObservedTime", "");
        }
    }

    /// Reports a change of the immutable field `field` in an event of the new style.
    pub(crate) fn check_unchanged(&self, field: &'static str, old: &Self, errors: &mut FieldErrors) {
        const IMMUTABLE: &str = "field is immutable";
        macro_rules! unchanged {
            ($($name:literal => $field:ident),* $(,)?) => {
                match field {
                    $($name if self.$field != old.$field => errors.invalid(field, GoValue(&self.$field), IMMUTABLE),)*
                    _ => {}
                }
            };
        }
        unchanged! {
            "involvedObject" => involved_object,
            "reason" => reason,
            "message" => message,
            "source" => source,
            "firstTimestamp" => first_timestamp,
            "lastTimestamp" => last_timestamp,
            "count" => count,
            "type" => type_,
            "eventTime" => event_time,
            "action" => action,
            "related" => related,
            "reportingController" => reporting_component,
            "reportingInstance" => reporting_instance,
        }
    }
}
