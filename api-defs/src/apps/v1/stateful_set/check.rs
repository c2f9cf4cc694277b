//! What is wrong with a stateful set.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::names;
use planesmith_machinery::validation::{check_at_most_100_percent, check_int_or_percent};
use planesmith_machinery::value::Value;

use super::{
    RollingUpdateStatefulSetStrategy, StatefulSetPersistentVolumeClaimRetentionPolicy, StatefulSetSpec,
    StatefulSetUpdateStrategy,
};
use crate::core::v1::{PersistentVolumeClaimVolumeSource, PodOptions, PodTemplateSpec, Volume};
use crate::workload::counts::check_from_zero;
use crate::workload::selector::{Match, check_present, matches, report_mismatch};
use crate::workload::template::check_restarts;

/// What can change in a stateful set.
const FROZEN: &str = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
                      'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and \
                      'minReadySeconds' are forbidden";

impl StatefulSetSpec {
    /// Reports what is wrong with the spec. Parts that were wrong in the spec that it replaces may stay so.
    pub(super) fn check(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        match self.pod_management_policy.as_str() {
            "" => errors.required("podManagementPolicy", ""),
            "OrderedReady" | "Parallel" => {}
            other => errors.invalid("podManagementPolicy", other, "must be 'OrderedReady' or 'Parallel'"),
        }
        self.update_strategy.check(errors);
        if let Some(policy) = &self.persistent_volume_claim_retention_policy {
            policy.check(&mut errors.at("persistentVolumeClaimRetentionPolicy"));
        }
        // They cannot change, so that those which were stored are not looked at again.
        if old.is_none() {
            for (index, claim) in self.volume_claim_templates.iter().enumerate() {
                let errors = &mut *errors.at_index("volumeClaimTemplates", index);
                claim.spec.check(&mut errors.at("spec"));
            }
        }
        check_from_zero("replicas", self.replicas, errors);
        check_from_zero("minReadySeconds", self.min_ready_seconds, errors);
        if let Some(ordinals) = &self.ordinals {
            check_from_zero("ordinals.start", ordinals.start, errors);
        }
        self.check_service_name(old, errors);
        self.check_template(old, errors);
    }

    fn check_service_name(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        let was_bad = old.is_some_and(|old| !names::dns_label(&old.service_name).is_empty());
        if self.service_name.is_empty() || was_bad {
            return;
        }
        for complaint in names::dns_label(&self.service_name) {
            errors.invalid("serviceName", &self.service_name, complaint);
        }
    }

    fn check_template(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        let selector = self.selector.as_ref();
        check_present(selector, "statefulset", errors);
        let labels = &self.template.metadata.labels;
        match matches(selector, labels) {
            Match::Senseless => {
                if let Some(selector) = selector {
                    errors.invalid("selector", selector as &dyn Value, "");
                }
            }
            outcome => {
                if outcome == Match::No {
                    report_mismatch(labels, "template.metadata.labels", errors);
                }
                if !old.is_some_and(Self::has_bad_template) {
                    let options = PodOptions::of_template(old.map(|old| &old.template));
                    self.whole_template().check(options, &mut errors.at("template"));
                }
            }
        }
        check_restarts(&self.template, "StatefulSet", &mut errors.at("template"));
    }

    /// Whether the template would be refused today.
    fn has_bad_template(&self) -> bool {
        let mut errors = FieldErrors::default();
        let options = PodOptions::of_template(Some(&self.template));
        self.whole_template().check(options, &mut errors);
        !errors.is_empty()
    }

    /// The template as the pods will have it: with the volumes that claims stand for, and without names for the network,
    /// which are those of the pod and of the service whatever the template says.
    fn whole_template(&self) -> PodTemplateSpec {
        let mut template = self.template.clone();
        template.spec.hostname.clear();
        template.spec.subdomain.clear();
        let claims = self.volume_claim_templates.iter();
        let claims: Vec<&str> = claims.map(|claim| claim.metadata.name.as_str()).collect();
        template
            .spec
            .volumes
            .retain(|volume| !claims.contains(&volume.name.as_str()));
        template.spec.volumes.extend(claims.into_iter().map(claimed_volume));
        template
    }

    /// Reports a change of what cannot change.
    pub(super) fn check_frozen(&self, old: &Self, errors: &mut FieldErrors) {
        let same = self.selector == old.selector
            && self.volume_claim_templates == old.volume_claim_templates
            && self.service_name == old.service_name
            && self.pod_management_policy == old.pod_management_policy;
        if !same {
            errors.forbidden("spec", FROZEN);
        }
    }
}

fn claimed_volume(name: &str) -> Volume {
    let mut volume = Volume {
        name: name.to_owned(),
        ..Volume::default()
    };
    volume.volume_source.persistent_volume_claim = Some(PersistentVolumeClaimVolumeSource {
        claim_name: name.to_owned(),
        ..PersistentVolumeClaimVolumeSource::default()
    });
    volume
}

impl StatefulSetUpdateStrategy {
    fn check(&self, errors: &mut FieldErrors) {
        let rolling = self.rolling_update.as_ref();
        match (self.type_.as_str(), rolling) {
            ("", _) => errors.required("updateStrategy", ""),
            ("OnDelete", Some(rolling)) => errors.invalid(
                "updateStrategy.rollingUpdate",
                GoValue(rolling),
                "only allowed for updateStrategy 'RollingUpdate'",
            ),
            ("RollingUpdate", Some(rolling)) => rolling.check(&mut errors.at("updateStrategy.rollingUpdate")),
            ("OnDelete" | "RollingUpdate", None) => {}
            _ => errors.invalid("updateStrategy", GoValue(self), "must be 'RollingUpdate' or 'OnDelete'"),
        }
    }
}

impl RollingUpdateStatefulSetStrategy {
    fn check(&self, errors: &mut FieldErrors) {
        check_from_zero("partition", self.partition, errors);
        if let Some(unavailable) = &self.max_unavailable {
            check_int_or_percent(unavailable, "maxUnavailable", errors);
            if unavailable.amount() == 0 {
                errors.invalid("maxUnavailable", unavailable as &dyn Value, "cannot be 0");
            }
            check_at_most_100_percent(unavailable, "maxUnavailable", errors);
        }
    }
}

impl StatefulSetPersistentVolumeClaimRetentionPolicy {
    fn check(&self, errors: &mut FieldErrors) {
        for (field, choice) in [("whenDeleted", &self.when_deleted), ("whenScaled", &self.when_scaled)] {
            if !matches!(choice.as_str(), "Retain" | "Delete") {
                errors.not_supported_in_order(field, choice, &["Retain", "Delete"]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bad_fields(set: &StatefulSetSpec) -> Vec<String> {
        let mut errors = FieldErrors::default();
        set.check(None, &mut errors);
        errors.as_slice().iter().map(|error| error.field.clone()).collect()
    }

    #[test]
    fn names_for_the_network_are_not_looked_at() {
        let plain = StatefulSetSpec {
            selector: Some(planesmith_machinery::meta::LabelSelector::default()),
            ..StatefulSetSpec::default()
        };
        let mut named = plain.clone();
        named.template.spec.hostname = "Not a name".to_owned();
        named.template.spec.subdomain = "Not a name".to_owned();
        assert_eq!(bad_fields(&named), bad_fields(&plain));
    }
}
