//! Conversion to the newest version and back.
//!
//! The CPU target has a field in this version. All other metrics, the behavior and the conditions are kept in the
//! annotations that Kubernetes uses, so that a client of this version can write an autoscaler back without loss. The
//! conversion moves the CPU target behind the other metrics.

use planesmith_machinery::resource::Convert;

use super::{CrossVersionObjectReference, HorizontalPodAutoscaler};
use crate::autoscaling::v1::annotation::{self, Behavior};
use crate::autoscaling::v2;
use crate::autoscaling::v2::horizontal_pod_autoscaler::{DEFAULT_CPU_PERCENT, preserved};

impl Convert<v2::HorizontalPodAutoscaler> for HorizontalPodAutoscaler {
    fn finish_to_hub(&self, hub: &mut v2::HorizontalPodAutoscaler) {
        let annotations = &self.metadata.annotations;
        let kept_text = |name: &str| annotations.get(name).map(String::as_str);
        let metrics = kept_text(preserved::METRICS).and_then(annotation::read_list::<annotation::MetricSpec>);
        let metrics = &mut metrics.unwrap_or_default().into_iter().map(v2::MetricSpec::from);
        hub.spec.metrics = metrics
            .chain(self.spec.target_cpu_utilization_percentage.map(v2::MetricSpec::cpu))
            .collect();
        if hub.spec.metrics.is_empty() {
            hub.spec.metrics.push(v2::MetricSpec::cpu(DEFAULT_CPU_PERCENT));
        }
        hub.spec.behavior = kept_text(preserved::BEHAVIOR)
            .and_then(annotation::read::<Behavior>)
            .filter(|behavior| *behavior != Behavior::default())
            .map(v2::HorizontalPodAutoscalerBehavior::from);
        hub.status.current_metrics = match kept_text(preserved::CURRENT_METRICS).and_then(annotation::read_list) {
            Some(seen) => seen
                .into_iter()
                .map(|seen: annotation::MetricStatus| seen.into())
                .collect(),
            None => self
                .status
                .current_cpu_utilization_percentage
                .map(v2::MetricStatus::cpu)
                .into_iter()
                .collect(),
        };
        hub.status.conditions = kept_text(preserved::CONDITIONS)
            .and_then(annotation::read_list)
            .unwrap_or_default();
        for name in preserved::ALL {
            hub.metadata.annotations.remove(name);
        }
    }

    fn finish_from_hub(&mut self, hub: &v2::HorizontalPodAutoscaler) {
        let annotations = &mut self.metadata.annotations;
        for stale in preserved::ALL {
            annotations.remove(stale);
        }
        let cpu = hub
            .spec
            .metrics
            .iter()
            .position(|metric| metric.cpu_percent().is_some());
        self.spec.target_cpu_utilization_percentage = cpu.and_then(|index| hub.spec.metrics[index].cpu_percent());
        let others = hub
            .spec
            .metrics
            .iter()
            .enumerate()
            .filter(|(index, _)| Some(*index) != cpu);
        let others: Vec<_> = others.map(|(_, metric)| annotation::MetricSpec::from(metric)).collect();
        if !others.is_empty() {
            annotations.insert(preserved::METRICS.to_owned(), annotation::write_list(others));
        }
        // Includes the CPU metric: the field of this version has the percentage only, not the amount.
        let seen = &hub.status.current_metrics;
        self.status.current_cpu_utilization_percentage = seen.iter().rev().find_map(v2::MetricStatus::cpu_percent);
        if !seen.is_empty() {
            let seen = seen.iter().map(annotation::MetricStatus::from);
            annotations.insert(preserved::CURRENT_METRICS.to_owned(), annotation::write_list(seen));
        }
        if let Some(behavior) = &hub.spec.behavior {
            annotations.insert(
                preserved::BEHAVIOR.to_owned(),
                annotation::write(&Behavior::from(behavior)),
            );
        }
        if !hub.status.conditions.is_empty() {
            let conditions = annotation::write_list(hub.status.conditions.iter().cloned());
            annotations.insert(preserved::CONDITIONS.to_owned(), conditions);
        }
    }

    /// True if the annotations can represent the autoscaler. They have a field for each legal type of target and none
    /// for the type itself. A target whose type contradicts its values, or with values that its metric does not use,
    /// cannot be represented.
    fn can_hold(hub: &v2::HorizontalPodAutoscaler) -> bool {
        let kept = |metric: &v2::MetricSpec| v2::MetricSpec::from(annotation::MetricSpec::from(metric)) == *metric;
        hub.spec.metrics.iter().all(kept)
    }
}

impl From<&v2::CrossVersionObjectReference> for CrossVersionObjectReference {
    fn from(newest: &v2::CrossVersionObjectReference) -> Self {
        Self {
            kind: newest.kind.clone(),
            name: newest.name.clone(),
            api_version: newest.api_version.clone(),
        }
    }
}

impl From<&CrossVersionObjectReference> for v2::CrossVersionObjectReference {
    fn from(old: &CrossVersionObjectReference) -> Self {
        Self {
            kind: old.kind.clone(),
            name: old.name.clone(),
            api_version: old.api_version.clone(),
        }
    }
}
