//! Validation of deployments.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::validation::{check_at_most_100_percent, check_int_or_percent};
use planesmith_machinery::value::Value;

use super::{DeploymentSpec, DeploymentStatus, DeploymentStrategy, RollingUpdateDeployment};
use crate::core::v1::workload::counts::{check_at_most, check_from_zero};
use crate::core::v1::workload::selector::check_template;

impl DeploymentSpec {
    pub(super) fn check(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        check_from_zero("replicas", self.replicas, errors);
        check_template(
            self.selector.as_ref(),
            (&self.template, old.map(|old| &old.template)),
            "deployment",
            "ReplicaSet",
            errors,
        );
        self.strategy.check(errors);
        check_from_zero("minReadySeconds", self.min_ready_seconds, errors);
        check_from_zero("revisionHistoryLimit", self.revision_history_limit, errors);
        if let Some(seconds) = self.progress_deadline_seconds {
            check_from_zero("progressDeadlineSeconds", seconds, errors);
            if seconds <= self.min_ready_seconds {
                errors.invalid(
                    "progressDeadlineSeconds",
                    seconds,
                    "must be greater than minReadySeconds",
                );
            }
        }
    }
}

impl DeploymentStrategy {
    fn check(&self, errors: &mut FieldErrors) {
        match self.type_.as_str() {
            "Recreate" => {
                if self.rolling_update.is_some() {
                    errors.forbidden(
                        "strategy.rollingUpdate",
                        "may not be specified when strategy `type` is 'Recreate'",
                    );
                }
            }
            "RollingUpdate" => match &self.rolling_update {
                Some(rolling) => rolling.check(&mut errors.at("strategy.rollingUpdate")),
                None => errors.required("strategy.rollingUpdate", "this should be defaulted and never be nil"),
            },
            _ => errors.not_supported_in_order("strategy", GoValue(self), &["Recreate", "RollingUpdate"]),
        }
    }
}

impl RollingUpdateDeployment {
    fn check(&self, errors: &mut FieldErrors) {
        let unavailable = self.max_unavailable.clone().unwrap_or_default();
        let surge = self.max_surge.clone().unwrap_or_default();
        check_int_or_percent(&unavailable, "maxUnavailable", errors);
        check_int_or_percent(&surge, "maxSurge", errors);
        if unavailable.amount() == 0 && surge.amount() == 0 {
            errors.invalid(
                "maxUnavailable",
                &unavailable as &dyn Value,
                "may not be 0 when `maxSurge` is 0",
            );
        }
        check_at_most_100_percent(&unavailable, "maxUnavailable", errors);
    }
}

impl DeploymentStatus {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        check_from_zero("observedGeneration", self.observed_generation, errors);
        check_from_zero("replicas", self.replicas, errors);
        check_from_zero("updatedReplicas", self.updated_replicas, errors);
        check_from_zero("readyReplicas", self.ready_replicas, errors);
        check_from_zero("availableReplicas", self.available_replicas, errors);
        check_from_zero("unavailableReplicas", self.unavailable_replicas, errors);
        check_from_zero("terminatingReplicas", self.terminating_replicas, errors);
        check_from_zero("collisionCount", self.collision_count, errors);
        let all = (self.replicas, "status.replicas");
        check_at_most("updatedReplicas", self.updated_replicas, all, errors);
        check_at_most("readyReplicas", self.ready_replicas, all, errors);
        check_at_most("availableReplicas", self.available_replicas, all, errors);
        let ready = (self.ready_replicas, "readyReplicas");
        check_at_most("availableReplicas", self.available_replicas, ready, errors);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_amounts_of_an_unknown_strategy_are_shown_as_zero() {
        let strategy = DeploymentStrategy {
            type_: "Foo".to_owned(),
            rolling_update: Some(RollingUpdateDeployment::default()),
        };
        let mut errors = FieldErrors::default();
        strategy.check(&mut errors);
        assert_eq!(
            errors.as_slice()[0].value,
            r#"{"Type":"Foo","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":0}}"#
        );
    }
}
