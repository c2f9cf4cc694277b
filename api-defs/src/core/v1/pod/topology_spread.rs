//! Distribution of pods over zones and nodes.

use std::collections::BTreeMap;

use super::PodOptions;
use crate::core::v1::label_keys::check_label_keys;
use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::LabelSelector;
use planesmith_machinery::validation::{SelectorValues, check_label_selector};

/// Constraint on the distribution of pods over topology domains.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TopologySpreadConstraint {
    /// Maximum difference in the number of matching pods between topology domains, at least 1. With ScheduleAnyway,
    /// domains that comply are preferred.
    #[field(proto = 1, keep)]
    pub max_skew: i32,
    /// Node label that defines the topology domains: nodes with the same value belong to one domain.
    #[field(proto = 2, keep)]
    pub topology_key: String,
    /// Behavior when no node satisfies the constraint: DoNotSchedule leaves the pod pending, ScheduleAnyway takes the
    /// best node.
    #[field(
        proto = 3,
        keep,
        known("DoNotSchedule", "ScheduleAnyway"),
        go_type = "UnsatisfiableConstraintAction"
    )]
    pub when_unsatisfiable: String,
    /// Labels of the counted pods.
    #[field(proto = 4)]
    pub label_selector: Option<LabelSelector>,
    /// Minimum number of eligible domains. With fewer domains, the minimum number of pods is taken as 0. Requires
    /// DoNotSchedule. 1 when absent.
    #[field(proto = 5)]
    pub min_domains: Option<i32>,
    /// Treatment of nodes that the pod's nodeSelector and affinity exclude: Honor (the default) leaves them out, Ignore
    /// counts all nodes.
    #[field(proto = 6, known("Ignore", "Honor"), go_type = "NodeInclusionPolicy")]
    pub node_affinity_policy: Option<String>,
    /// Treatment of tainted nodes: Honor counts only nodes without taints or with taints that the pod tolerates, Ignore
    /// (the default) counts all nodes.
    #[field(proto = 7, known("Ignore", "Honor"), go_type = "NodeInclusionPolicy")]
    pub node_taints_policy: Option<String>,
    /// Keys of labels that the counted pods must have with the same value as this pod. Merged into labelSelector on
    /// creation.
    #[field(proto = 8, list_type = atomic)]
    pub match_label_keys: Vec<String>,
}

/// Reports errors in the topology spread constraints.
pub(super) fn check_spread(constraints: &[TopologySpreadConstraint], options: PodOptions, errors: &mut FieldErrors) {
    // The last index of each pair: an earlier one is a duplicate.
    let last: BTreeMap<(&str, &str), usize> = constraints
        .iter()
        .map(TopologySpreadConstraint::pair)
        .zip(0..)
        .collect();
    for (index, constraint) in constraints.iter().enumerate() {
        let mut errors = errors.at_index("topologySpreadConstraints", index);
        constraint.check(&mut errors);
        let (key, action) = constraint.pair();
        if last.get(&(key, action)).is_some_and(|last| *last > index) {
            let pair = format!("{{{key}, {action}}}");
            errors.duplicate("{topologyKey, whenUnsatisfiable}", pair.as_str());
        }
        constraint.check_details(options, &mut errors);
    }
}

impl TopologySpreadConstraint {
    /// Returns the key of the constraint, which must be unique within a pod.
    fn pair(&self) -> (&str, &str) {
        (&self.topology_key, &self.when_unsatisfiable)
    }

    fn check(&self, errors: &mut FieldErrors) {
        if self.max_skew <= 0 {
            errors.invalid("maxSkew", self.max_skew, "must be greater than zero");
        }
        if self.topology_key.is_empty() {
            errors.required("topologyKey", "can not be empty");
        }
        let action = self.when_unsatisfiable.as_str();
        if !matches!(action, "DoNotSchedule" | "ScheduleAnyway") {
            errors.not_supported("whenUnsatisfiable", action, &["DoNotSchedule", "ScheduleAnyway"]);
        }
    }

    fn check_details(&self, options: PodOptions, errors: &mut FieldErrors) {
        if let Some(domains) = self.min_domains {
            if domains <= 0 {
                errors.invalid("minDomains", domains, "must be greater than zero");
            }
            if self.when_unsatisfiable != "DoNotSchedule" {
                let problem = format!(
                    "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}",
                    self.when_unsatisfiable
                );
                errors.invalid("minDomains", domains, problem);
            }
        }
        let policies = [
            ("nodeAffinityPolicy", &self.node_affinity_policy),
            ("nodeTaintsPolicy", &self.node_taints_policy),
        ];
        for (field, policy) in policies {
            if let Some(policy) = policy.as_deref()
                && !matches!(policy, "Ignore" | "Honor")
            {
                errors.not_supported(field, policy, &["Honor", "Ignore"]);
            }
        }
        check_label_keys(&self.match_label_keys, &[], self.label_selector.as_ref(), errors);
        if let Some(selector) = &self.label_selector
            && !options.any_spread_selector
        {
            check_label_selector(selector, SelectorValues::Legal, &mut errors.at("labelSelector"));
        }
    }
}
