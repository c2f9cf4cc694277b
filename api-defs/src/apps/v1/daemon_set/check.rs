//! Validation of daemon sets.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::validation::{
    SelectorValues, check_at_most_100_percent, check_int_or_percent, check_label_selector,
};
use planesmith_machinery::value::Value;

use super::{DaemonSetSpec, DaemonSetStatus, DaemonSetUpdateStrategy, RollingUpdateDaemonSet};
use crate::core::v1::workload::counts::check_from_zero;
use crate::core::v1::workload::selector::{Match, check_not_empty, matches, report_mismatch};
use crate::core::v1::workload::template::check_always_running;

impl DaemonSetSpec {
    pub(super) fn check(&self, old: Option<&Self>, template_generation: i64, errors: &mut FieldErrors) {
        let selector = self.selector.as_ref();
        if let Some(selector) = selector {
            check_label_selector(selector, SelectorValues::Legal, &mut errors.at("selector"));
        }
        let labels = &self.template.metadata.labels;
        if matches(selector, labels) == Match::No {
            report_mismatch(labels, "template.metadata.labels", errors);
        }
        if let Some(selector) = selector {
            check_not_empty(selector, "daemonset", errors);
        }
        let old = old.map(|old| &old.template);
        check_always_running(&self.template, old, "DaemonSet", &mut errors.at("template"));
        check_from_zero("minReadySeconds", self.min_ready_seconds, errors);
        check_from_zero("templateGeneration", template_generation, errors);
        self.update_strategy.check(errors);
        check_from_zero("revisionHistoryLimit", self.revision_history_limit, errors);
    }
}

impl DaemonSetUpdateStrategy {
    fn check(&self, errors: &mut FieldErrors) {
        match (self.type_.as_str(), &self.rolling_update) {
            ("OnDelete", _) => {}
            ("RollingUpdate", None) => errors.required("updateStrategy.rollingUpdate", ""),
            ("RollingUpdate", Some(rolling)) => rolling.check(&mut errors.at("updateStrategy.rollingUpdate")),
            _ => {
                let known = ["RollingUpdate", "OnDelete"];
                errors.not_supported_in_order("updateStrategy", GoValue(self), &known);
            }
        }
    }
}

impl RollingUpdateDaemonSet {
    fn check(&self, errors: &mut FieldErrors) {
        let unavailable = self.max_unavailable.clone().unwrap_or_default();
        let surge = self.max_surge.clone().unwrap_or_default();
        check_int_or_percent(&unavailable, "maxUnavailable", errors);
        check_int_or_percent(&surge, "maxSurge", errors);
        check_at_most_100_percent(&unavailable, "maxUnavailable", errors);
        check_at_most_100_percent(&surge, "maxSurge", errors);
        match (unavailable.amount() == 0, surge.amount() == 0) {
            (false, false) => errors.invalid(
                "maxSurge",
                &surge as &dyn Value,
                "may not be set when maxUnavailable is non-zero",
            ),
            (true, true) => errors.required("maxUnavailable", "cannot be 0 when maxSurge is 0"),
            _ => {}
        }
    }
}

impl DaemonSetStatus {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        check_from_zero("currentNumberScheduled", self.current_number_scheduled, errors);
        check_from_zero("numberMisscheduled", self.number_misscheduled, errors);
        check_from_zero("desiredNumberScheduled", self.desired_number_scheduled, errors);
        check_from_zero("numberReady", self.number_ready, errors);
        check_from_zero("observedGeneration", self.observed_generation, errors);
        check_from_zero("updatedNumberScheduled", self.updated_number_scheduled, errors);
        check_from_zero("numberAvailable", self.number_available, errors);
        check_from_zero("numberUnavailable", self.number_unavailable, errors);
        check_from_zero("collisionCount", self.collision_count, errors);
    }
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::field_error::FieldErrors;
    use planesmith_machinery::meta::LabelSelector;
    use planesmith_machinery::strategy::Context;
    use planesmith_machinery::validation::check_update;

    use crate::apps::v1::{DaemonSet, DaemonSetUpdateStrategy, RollingUpdateDaemonSet};

    #[test]
    fn absent_amounts_of_an_unknown_strategy_are_shown_as_zero() {
        let strategy = DaemonSetUpdateStrategy {
            type_: "Foo".to_owned(),
            rolling_update: Some(RollingUpdateDaemonSet::default()),
        };
        let mut errors = FieldErrors::default();
        strategy.check(&mut errors);
        assert_eq!(
            errors.as_slice()[0].value,
            r#"{"Type":"Foo","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":0}}"#
        );
    }

    #[test]
    fn an_update_is_checked_once_and_the_selector_first() {
        let old = DaemonSet::default();
        let mut new = old.clone();
        new.spec.selector = Some(LabelSelector::default());
        new.spec.min_ready_seconds = -1;
        let errors = check_update(&new, &old, &Context::default());
        let fields = errors.as_slice().iter().map(|error| error.field.as_str());
        let fields: Vec<&str> = fields.filter(|field| field.starts_with("spec.")).collect();
        assert_eq!(fields[0], "spec.selector");
        let negative = fields.iter().filter(|field| **field == "spec.minReadySeconds");
        assert_eq!(negative.count(), 1);
    }
}
