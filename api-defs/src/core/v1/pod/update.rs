//! Validation of updates of pods.

use std::collections::{BTreeMap, BTreeSet};

use planesmith_machinery::field_error::{FieldErrors, Json};
use planesmith_machinery::go_value::{GoValue, diff};
use planesmith_machinery::names;

use super::{Pod, PodOptions, PodSpec, annotations};
use crate::core::v1::toleration::{check_tolerations, may_compare};
use crate::core::v1::{Affinity, Container, NodeAffinity, NodeSelectorTerm, PodSchedulingGate, Toleration};

/// Mutable fields of a pod's spec, as the error text lists them.
const CHANGEABLE: [&str; 5] = [
    "`spec.containers[*].image`",
    "`spec.initContainers[*].image`",
    "`spec.activeDeadlineSeconds`",
    "`spec.tolerations` (only additions to existing tolerations)",
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
];

impl Pod {
    /// Reports errors that creation and updates have in common.
    pub(super) fn check_always(&self, options: PodOptions, errors: &mut FieldErrors) {
        let meta = &self.metadata;
        annotations::check(
            &meta.annotations,
            &self.spec,
            options,
            &mut errors.at("metadata.annotations"),
        );
        let options = PodOptions {
            no_claims: meta.annotations.contains_key(annotations::MIRROR),
            ..options
        };
        self.spec.check(&meta.name, options, &mut errors.at("spec"));
        if self.spec.service_account_name.is_empty() {
            self.refuse_tokens(errors);
        }
        for (field, containers) in [
            ("spec.containers", &self.spec.containers),
            ("spec.initContainers", &self.spec.init_containers),
        ] {
            for (index, container) in containers.iter().enumerate() {
                container.check_of_pod(&mut errors.at_index(field, index));
            }
        }
    }

    /// Refuses projected tokens in a pod without a service account.
    fn refuse_tokens(&self, errors: &mut FieldErrors) {
        for (index, volume) in self.spec.volumes.iter().enumerate() {
            let projected = volume.volume_source.projected.iter();
            for (position, source) in projected.flat_map(|projected| projected.sources.iter().enumerate()) {
                if source.service_account_token.is_some() {
                    errors
                        .at_index("spec.volumes", index)
                        .at("projected")
                        .at_index("sources", position)
                        .forbidden(
                            "serviceAccountToken",
                            "must not be specified when serviceAccountName is not set",
                        );
                }
            }
        }
    }

    /// Reports changes of immutable annotations, and errors in the annotations.
    pub(super) fn check_annotations_update(&self, old: &Self, options: PodOptions, errors: &mut FieldErrors) {
        let (new, old) = (&self.metadata.annotations, &old.metadata.annotations);
        let mut errors = errors.at("metadata.annotations");
        annotations::check_update(new, old, &mut errors);
        annotations::check(new, &self.spec, options, &mut errors);
    }

    /// Reports illegal changes of `old`.
    pub(super) fn check_update(&self, old: &Self, errors: &mut FieldErrors) {
        let options = PodOptions::of_pod(Some(old));
        self.check_always(options, errors);
        self.check_annotations_update(old, options, errors);
        let (new, old) = (&self.spec, &old.spec);
        let mut errors = errors.at("spec");
        for (field, new, old) in [
            ("containers", &new.containers, &old.containers),
            ("initContainers", &new.init_containers, &old.init_containers),
        ] {
            if new.len() != old.len() {
                errors.forbidden(field, "pod updates may not add or remove containers");
                return;
            }
            check_images(field, new, &mut errors);
        }
        if check_deadline(new, old, &mut errors) {
            return;
        }
        check_only_added(&new.tolerations, &old.tolerations, &mut errors);
        check_only_removed(&new.scheduling_gates, &old.scheduling_gates, &mut errors);
        if new == old {
            return;
        }
        let mut rest = new.with_changeable_of(old);
        if !old.scheduling_gates.is_empty() {
            check_gated(&mut rest, old, &mut errors);
        }
        if rest != *old {
            let problem = format!(
                "pod updates may not change fields other than {}\n{}",
                CHANGEABLE.join(","),
                diff(old, &rest)
            );
            errors.forbidden("", problem);
        }
    }
}

impl PodSpec {
    /// Returns the spec with the mutable fields of `old`.
    fn with_changeable_of(&self, old: &Self) -> Self {
        let mut spec = self.clone();
        let pairs = spec.containers.iter_mut().zip(&old.containers);
        for (container, old) in pairs.chain(spec.init_containers.iter_mut().zip(&old.init_containers)) {
            container.image.clone_from(&old.image);
        }
        spec.active_deadline_seconds = old.active_deadline_seconds;
        spec.scheduling_gates.clone_from(&old.scheduling_gates);
        spec.tolerations.clone_from(&old.tolerations);
        let seconds = &mut spec.termination_grace_period_seconds;
        if old.termination_grace_period_seconds.is_some_and(|old| old < 0) && *seconds == Some(1) {
            *seconds = old.termination_grace_period_seconds;
        }
        spec
    }
}

fn check_images(field: &str, containers: &[Container], errors: &mut FieldErrors) {
    for (index, container) in containers.iter().enumerate() {
        let mut errors = errors.at_index(field, index);
        if container.image.is_empty() {
            errors.required("image", "");
        }
        container.check_of_pod(&mut errors);
    }
}

/// Checks that the deadline is only set or shortened. Returns true if no other checks are necessary.
fn check_deadline(new: &PodSpec, old: &PodSpec, errors: &mut FieldErrors) -> bool {
    const FIELD: &str = "activeDeadlineSeconds";
    match (new.active_deadline_seconds, old.active_deadline_seconds) {
        (Some(new), old) => {
            let mut problems = names::in_range(new, 0, i32::MAX.into());
            if problems.is_empty() && old.is_some_and(|old| old < new) {
                problems.push("must be less than or equal to previous value".to_owned());
            }
            let stop = !problems.is_empty();
            for problem in problems {
                errors.invalid(FIELD, new, problem);
            }
            stop
        }
        (None, Some(_)) => {
            let problem = "must not update from a positive integer to nil value";
            errors.invalid(FIELD, Json("null"), problem);
            false
        }
        (None, None) => false,
    }
}

fn check_only_added(new: &[Toleration], old: &[Toleration], errors: &mut FieldErrors) {
    let known: BTreeSet<_> = new.iter().map(Toleration::identity).collect();
    if !old.iter().all(|old| known.contains(&old.identity())) {
        let problem = "existing toleration can not be modified except its tolerationSeconds";
        errors.forbidden("tolerations", problem);
        return;
    }
    check_tolerations(new, may_compare(old, errors.features()), errors);
}

fn check_only_removed(new: &[PodSchedulingGate], old: &[PodSchedulingGate], errors: &mut FieldErrors) {
    let old: BTreeSet<&str> = old.iter().map(|gate| gate.name.as_str()).collect();
    // The error names the last index of a duplicate gate.
    let last: BTreeMap<&str, usize> = (new.iter().enumerate())
        .map(|(index, gate)| (gate.name.as_str(), index))
        .collect();
    for (index, gate) in new.iter().enumerate() {
        if old.contains(gate.name.as_str()) || last[gate.name.as_str()] != index {
            continue;
        }
        let problem = format!(
            "only deletion is allowed, but found new scheduling gate '{}'",
            gate.name
        );
        errors.at_index("schedulingGates", index).forbidden("name", problem);
    }
}

/// Checks that a pod with scheduling gates only narrows its node selection. Reverts the checked changes in `new`.
fn check_gated(new: &mut PodSpec, old: &PodSpec, errors: &mut FieldErrors) {
    let kept = |(key, value): (&String, &String)| new.node_selector.get(key) == Some(value);
    if !old.node_selector.iter().all(kept) {
        let problem = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        errors.invalid("nodeSelector", GoValue(&new.node_selector), problem);
    }
    new.node_selector.clone_from(&old.node_selector);
    let of_nodes = |affinity: &Option<Affinity>| affinity.as_ref().and_then(|affinity| affinity.node_affinity.clone());
    let (new_nodes, old_nodes) = (of_nodes(&new.affinity), of_nodes(&old.affinity));
    if new_nodes == old_nodes {
        return;
    }
    check_choosier(
        new_nodes.as_ref(),
        old_nodes.as_ref(),
        &mut errors.at("affinity.nodeAffinity"),
    );
    match &mut new.affinity {
        None => {
            new.affinity = old_nodes.map(|nodes| Affinity {
                node_affinity: Some(nodes),
                ..Affinity::default()
            })
        }
        Some(affinity)
            if old.affinity.is_none() && affinity.pod_affinity.is_none() && affinity.pod_anti_affinity.is_none() =>
        {
            new.affinity = None;
        }
        Some(affinity) => affinity.node_affinity = old_nodes,
    }
}

fn check_choosier(new: Option<&NodeAffinity>, old: Option<&NodeAffinity>, errors: &mut FieldErrors) {
    const FIELD: &str = "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
    let terms = |affinity: Option<&NodeAffinity>| -> Vec<NodeSelectorTerm> {
        let required =
            affinity.and_then(|affinity| affinity.required_during_scheduling_ignored_during_execution.clone());
        required
            .map(|selector| selector.node_selector_terms)
            .unwrap_or_default()
    };
    let (new, old) = (terms(new), terms(old));
    if old.is_empty() {
        return;
    }
    if new.len() != old.len() {
        let problem = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        errors.invalid(FIELD, GoValue(&new), problem);
        return;
    }
    for (index, (new, old)) in new.iter().zip(&old).enumerate() {
        let longer = new.match_expressions.starts_with(&old.match_expressions)
            && new.match_fields.starts_with(&old.match_fields);
        let empty = old.match_expressions.is_empty() && old.match_fields.is_empty();
        if !longer || empty && new != old {
            let problem = "only additions are allowed (no mutations or deletions)";
            errors.at_index(FIELD, index).invalid("", GoValue(new), problem);
        }
    }
}
