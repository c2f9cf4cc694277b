//! Validation of affinity and anti-affinity.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::LabelSelector;
use planesmith_machinery::names;
use planesmith_machinery::validation::{SelectorValues, check_label_key, check_label_selector};

use crate::core::v1::label_keys::check_label_keys;
use crate::core::v1::pod::PodOptions;
use crate::core::v1::{Affinity, NodeAffinity, PodAffinityTerm, WeightedPodAffinityTerm};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

impl Affinity {
    /// Reports errors in the affinity.
    pub(crate) fn check(&self, options: PodOptions, errors: &mut FieldErrors) {
        if let Some(affinity) = &self.node_affinity {
            affinity.check(options, &mut errors.at("nodeAffinity"));
        }
        for (field, required, preferred) in self.pod_terms() {
            let mut errors = errors.at(field);
            for (index, term) in required.iter().enumerate() {
                term.check(options, &mut errors.at_index(REQUIRED, index));
            }
            for (index, term) in preferred.iter().enumerate() {
                let mut errors = errors.at_index(PREFERRED, index);
                check_weight(term.weight, &mut errors);
                term.pod_affinity_term.check(options, &mut errors.at("podAffinityTerm"));
            }
        }
    }

    /// Returns the required and the preferred terms about pods, by field.
    pub(crate) fn pod_terms(&self) -> Vec<(&'static str, &[PodAffinityTerm], &[WeightedPodAffinityTerm])> {
        let mut terms: Vec<(_, &[_], &[_])> = Vec::new();
        if let Some(affinity) = &self.pod_affinity {
            terms.push((
                "podAffinity",
                &affinity.required_during_scheduling_ignored_during_execution,
                &affinity.preferred_during_scheduling_ignored_during_execution,
            ));
        }
        if let Some(affinity) = &self.pod_anti_affinity {
            terms.push((
                "podAntiAffinity",
                &affinity.required_during_scheduling_ignored_during_execution,
                &affinity.preferred_during_scheduling_ignored_during_execution,
            ));
        }
        terms
    }

    /// Iterates mutably over all terms about pods.
    pub(crate) fn pod_terms_mut(&mut self) -> impl Iterator<Item = &mut PodAffinityTerm> {
        let near = self.pod_affinity.iter_mut().flat_map(|affinity| {
            let preferred = &mut affinity.preferred_during_scheduling_ignored_during_execution;
            preferred
                .iter_mut()
                .map(|term| &mut term.pod_affinity_term)
                .chain(&mut affinity.required_during_scheduling_ignored_during_execution)
        });
        let far = self.pod_anti_affinity.iter_mut().flat_map(|affinity| {
            let preferred = &mut affinity.preferred_during_scheduling_ignored_during_execution;
            preferred
                .iter_mut()
                .map(|term| &mut term.pod_affinity_term)
                .chain(&mut affinity.required_during_scheduling_ignored_during_execution)
        });
        near.chain(far)
    }

    /// True if a pod label selector contains a value that is no legal label value.
    pub(crate) fn has_illegal_selector_value(&self) -> bool {
        let illegal = |selector: &Option<LabelSelector>| {
            let requirements = selector.iter().flat_map(|selector| &selector.match_expressions);
            requirements
                .flat_map(|requirement| &requirement.values)
                .any(|value| !names::label_value(value).is_empty())
        };
        self.pod_terms().into_iter().any(|(_, required, preferred)| {
            let preferred = preferred.iter().map(|term| &term.pod_affinity_term);
            required
                .iter()
                .chain(preferred)
                .any(|term| illegal(&term.label_selector) || illegal(&term.namespace_selector))
        })
    }

    /// True if a required node label has a value that is no legal label value.
    pub(crate) fn has_illegal_node_value(&self) -> bool {
        let required = self.node_affinity.as_ref();
        let required =
            required.and_then(|affinity| affinity.required_during_scheduling_ignored_during_execution.as_ref());
        required.is_some_and(|selector| {
            let terms = &selector.node_selector_terms;
            terms
                .iter()
                .flat_map(|term| &term.match_expressions)
                .any(crate::core::v1::NodeSelectorRequirement::has_illegal_value)
        })
    }
}

fn check_weight(weight: i32, errors: &mut FieldErrors) {
    if !(1..=100).contains(&weight) {
        errors.invalid("weight", weight, "must be in the range 1-100");
    }
}

impl NodeAffinity {
    fn check(&self, options: PodOptions, errors: &mut FieldErrors) {
        if let Some(required) = &self.required_during_scheduling_ignored_during_execution {
            required.check(options.node_selector_values(), &mut errors.at(REQUIRED));
        }
        let preferred = &self.preferred_during_scheduling_ignored_during_execution;
        for (index, term) in preferred.iter().enumerate() {
            let mut errors = errors.at_index(PREFERRED, index);
            check_weight(term.weight, &mut errors);
            // A preference that no node can fulfil is harmless.
            term.preference.check(SelectorValues::Any, &mut errors.at("preference"));
        }
    }
}

impl PodAffinityTerm {
    fn check(&self, options: PodOptions, errors: &mut FieldErrors) {
        let selectors = [
            ("labelSelector", &self.label_selector),
            ("namespaceSelector", &self.namespace_selector),
        ];
        for (field, selector) in selectors {
            if let Some(selector) = selector {
                check_label_selector(selector, options.selector_values(), &mut errors.at(field));
            }
        }
        for namespace in &self.namespaces {
            for problem in names::dns_label(namespace) {
                errors.invalid("namespace", namespace, problem);
            }
        }
        let (with, without) = (&self.match_label_keys, &self.mismatch_label_keys);
        check_label_keys(with, without, self.label_selector.as_ref(), errors);
        if self.topology_key.is_empty() {
            errors.required("topologyKey", "can not be empty");
        }
        check_label_key("topologyKey", &self.topology_key, errors);
    }
}
