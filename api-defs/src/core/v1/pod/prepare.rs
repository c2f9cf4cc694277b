//! Preparation of pods: fields that the server sets on creation and that later writes cannot remove.

use planesmith_machinery::feature::Features;
use planesmith_machinery::meta::{LabelSelector, LabelSelectorRequirement};
use planesmith_machinery::strategy::Context;

use super::Pod;
use super::app_armor;
use crate::core::v1::{PodCondition, PodStatus};

impl Pod {
    /// Resets the status of a new pod, and fields of features that are disabled, and stores values that are derived
    /// from the spec.
    pub(super) fn prepare(&mut self, context: &Context<'_>) {
        self.status = PodStatus {
            phase: "Pending".to_owned(),
            qos_class: self.quality_class().to_owned(),
            ..PodStatus::default()
        };
        self.spec.drop_disabled(None, context.features);
        if !self.spec.scheduling_gates.is_empty() {
            self.status.conditions.push(PodCondition {
                type_: "PodScheduled".to_owned(),
                status: "False".to_owned(),
                last_transition_time: context.now,
                reason: "SchedulingGated".to_owned(),
                message: "Scheduling is blocked due to non-empty scheduling gates".to_owned(),
                ..PodCondition::default()
            });
        }
        self.select_by_own_labels();
        app_armor::adopt(&self.metadata.annotations, &mut self.spec);
    }

    /// Converts label keys, which stand for the pod's own values, to selector requirements.
    fn select_by_own_labels(&mut self) {
        let labels = &self.metadata.labels;
        let select = |selector: &mut LabelSelector, keys: &[String], operator: &str| {
            for key in keys {
                if let Some(value) = labels.get(key) {
                    selector.match_expressions.push(LabelSelectorRequirement {
                        key: key.clone(),
                        operator: operator.to_owned(),
                        values: vec![value.clone()],
                    });
                }
            }
        };
        for term in self
            .spec
            .affinity
            .iter_mut()
            .flat_map(|affinity| affinity.pod_terms_mut())
        {
            if let Some(selector) = &mut term.label_selector {
                select(selector, &term.match_label_keys, "In");
                select(selector, &term.mismatch_label_keys, "NotIn");
            }
        }
        for constraint in &mut self.spec.topology_spread_constraints {
            if let Some(selector) = &mut constraint.label_selector {
                select(selector, &constraint.match_label_keys, "In");
            }
        }
    }

    /// Preserves fields that a status update cannot change.
    pub(super) fn prepare_status(&mut self, old: &Self, features: &Features) {
        self.metadata.deletion_timestamp = old.metadata.deletion_timestamp;
        self.metadata
            .owner_references
            .clone_from(&old.metadata.owner_references);
        let (status, old) = (&mut self.status, &old.status);
        status.drop_disabled(old, features);
        if status.qos_class.is_empty() {
            status.qos_class.clone_from(&old.qos_class);
        }
        if status.observed_generation == 0 {
            status.observed_generation = old.observed_generation;
        }
        // Several conditions can have the same type. The n-th new one is compared with the n-th old one.
        let mut followed: Vec<usize> = Vec::new();
        for condition in &mut status.conditions {
            let mut places = old.conditions.iter().enumerate();
            let place = places.find(|(place, old)| old.type_ == condition.type_ && !followed.contains(place));
            if let Some((place, old)) = place {
                followed.push(place);
                if condition.observed_generation == 0 {
                    condition.observed_generation = old.observed_generation;
                }
            }
        }
    }

    /// Returns the grace period of the pod's deletion in seconds; `requested` is the client's value.
    pub(super) fn grace_period_after(&self, requested: Option<i64>) -> i64 {
        let ended = matches!(self.status.phase.as_str(), "Failed" | "Succeeded");
        let seconds = match requested.or(self.spec.termination_grace_period_seconds) {
            _ if self.spec.node_name.is_empty() || ended => 0,
            Some(seconds) => seconds,
            None => 0,
        };
        if seconds < 0 { 1 } else { seconds }
    }
}
