//! Validation of stateful sets.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::names;
use planesmith_machinery::validation::{check_at_most_100_percent, check_int_or_percent};
use planesmith_machinery::value::Value;

use super::{
    RollingUpdateStatefulSetStrategy, StatefulSetPersistentVolumeClaimRetentionPolicy, StatefulSetSpec,
    StatefulSetUpdateStrategy,
};
use crate::core::v1::workload::counts::check_from_zero;
use crate::core::v1::workload::selector::{Match, check_present, matches, report_mismatch};
use crate::core::v1::workload::template::check_restarts;
use crate::core::v1::{PersistentVolumeClaimVolumeSource, PodOptions, PodTemplateSpec, Volume};

/// Error text of an update that changes an immutable field; lists the mutable fields.
const FROZEN: &str = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', \
                      'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and \
                      'minReadySeconds' are forbidden";

/// Selects the parts of a spec that are checked.
#[derive(Clone, Copy, Debug)]
struct Extent {
    /// Checks fields that are immutable.
    frozen: bool,
    /// True to check the whole template instead of its metadata only.
    template: bool,
}

impl StatefulSetSpec {
    /// Reports errors in the spec. On an update, immutable fields are not checked again, and neither is the template if
    /// the old spec has errors.
    pub(super) fn check(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        let options = PodOptions::of_template(old.map(|old| &old.template));
        // An unchanged template without former errors needs no check.
        let template = old.is_none_or(|old| !self.makes_the_same_pods(old) && !old.is_bad(options, errors));
        let frozen = old.is_none();
        self.check_parts(Extent { frozen, template }, options, errors);
    }

    /// True if both specs create the same pods: their templates and volume claim templates are equal.
    fn makes_the_same_pods(&self, old: &Self) -> bool {
        self.template == old.template && self.volume_claim_templates == old.volume_claim_templates
    }

    /// True if a stored spec has errors in its mutable fields or its template, by the rules of `errors`.
    fn is_bad(&self, options: PodOptions, errors: &FieldErrors) -> bool {
        let mut found = errors.separate();
        let (frozen, template) = (false, true);
        self.check_parts(Extent { frozen, template }, options, &mut found);
        !found.is_empty()
    }

    fn check_parts(&self, extent: Extent, options: PodOptions, errors: &mut FieldErrors) {
        match self.pod_management_policy.as_str() {
            "" => errors.required("podManagementPolicy", ""),
            "OrderedReady" | "Parallel" => {}
            other => errors.invalid("podManagementPolicy", other, "must be 'OrderedReady' or 'Parallel'"),
        }
        self.update_strategy.check(errors);
        if let Some(policy) = &self.persistent_volume_claim_retention_policy {
            policy.check(&mut errors.at("persistentVolumeClaimRetentionPolicy"));
        }
        if extent.frozen {
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
        if extent.frozen && !self.service_name.is_empty() {
            for complaint in names::dns_label(&self.service_name) {
                errors.invalid("serviceName", &self.service_name, complaint);
            }
        }
        self.check_template(extent, options, errors);
    }

    fn check_template(&self, extent: Extent, options: PodOptions, errors: &mut FieldErrors) {
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
                let errors = &mut *errors.at("template");
                if extent.template {
                    self.whole_template().check(options, errors);
                }
                // As in kube-apiserver, these errors are reported twice.
                self.template.check_metadata(options, errors);
            }
        }
        check_restarts(&self.template, "StatefulSet", &mut errors.at("template"));
    }

    /// Returns the template as the pods use it: with a volume for each claim template, and without hostname and
    /// subdomain, which the controller sets.
    fn whole_template(&self) -> PodTemplateSpec {
        let mut template = self.template.clone();
        template.spec.hostname.clear();
        template.spec.subdomain.clear();
        let claims = self.volume_claim_templates.iter();
        let claims: BTreeSet<&str> = claims.map(|claim| claim.metadata.name.as_str()).collect();
        let own = std::mem::take(&mut template.spec.volumes).into_iter();
        let own = own.filter(|volume| !claims.contains(volume.name.as_str()));
        // Claims come first; this determines the indexes of other volumes in errors.
        template.spec.volumes = claims.iter().copied().map(claimed_volume).chain(own).collect();
        template
    }

    /// Reports changes of immutable fields.
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
        match (self.type_.as_str(), &self.rolling_update) {
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
    use planesmith_machinery::defaulting::set_defaults;
    use planesmith_machinery::environment::Environment;
    use serde_json::{Value, json};

    use super::super::StatefulSet;
    use super::*;

    fn bad_fields(set: &StatefulSetSpec) -> Vec<String> {
        let mut errors = FieldErrors::default();
        set.check(None, &mut errors);
        errors.as_slice().iter().map(|error| error.field.clone()).collect()
    }

    fn spec(template: &Value, service_name: &str) -> StatefulSetSpec {
        let mut set: StatefulSet = serde_json::from_value(json!({
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "spec": {
                "selector": {"matchLabels": {"a": "b"}},
                "template": template,
                "serviceName": service_name,
            },
        }))
        .unwrap();
        set_defaults(&mut set, Environment::defaults());
        set.spec
    }

    fn template(labels: &Value, image: &str) -> Value {
        json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": image}]}})
    }

    #[test]
    fn bad_labels_of_the_template_are_reported_twice() {
        let bad = spec(&template(&json!({"a": "b", "c": "d!"}), "i"), "s");
        assert_eq!(bad_fields(&bad), ["template.labels"; 2]);
    }

    #[test]
    fn updates_look_at_the_template_when_everything_was_right_before() {
        let changed = |old: &StatefulSetSpec, new: &StatefulSetSpec| {
            let mut errors = FieldErrors::default();
            new.check(Some(old), &mut errors);
            errors
                .as_slice()
                .iter()
                .map(|error| error.field.clone())
                .collect::<Vec<_>>()
        };
        let good = spec(&template(&json!({"a": "b"}), "i"), "s");
        assert_eq!(bad_fields(&good), [""; 0]);
        let bad = spec(&template(&json!({"a": "b"}), ""), "No name");
        assert_eq!(changed(&good, &bad), ["template.spec.containers[0].image"]);
        let mut once_bad = good.clone();
        once_bad.replicas = Some(-1);
        assert_eq!(changed(&once_bad, &bad), [""; 0]);
        let labelled = spec(&template(&json!({"a": "b", "c": "d!"}), ""), "s");
        assert_eq!(changed(&once_bad, &labelled), ["template.labels"]);
        let mut scaled = labelled.clone();
        scaled.replicas = Some(2);
        assert_eq!(changed(&labelled, &scaled), ["template.labels"], "always looked at");
        assert_eq!(changed(&good, &once_bad), ["replicas"], "the rest is, too");
    }

    #[test]
    fn an_absent_partition_is_shown_as_zero() {
        let rolling = Some(RollingUpdateStatefulSetStrategy::default());
        let shown = |type_: &str| {
            let strategy = StatefulSetUpdateStrategy {
                type_: type_.to_owned(),
                rolling_update: rolling.clone(),
            };
            let mut errors = FieldErrors::default();
            strategy.check(&mut errors);
            errors.as_slice()[0].value.clone()
        };
        let rolling = r#"{"Partition":0,"MaxUnavailable":null}"#;
        assert_eq!(shown("OnDelete"), rolling);
        assert_eq!(shown("Foo"), format!(r#"{{"Type":"Foo","RollingUpdate":{rolling}}}"#));
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
