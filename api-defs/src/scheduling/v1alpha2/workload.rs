//! Workloads: related groups of pods.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::names;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::value::Value;
use planesmith_machinery::{Resource, Struct};

use super::scheduling_policy::check_claims;

use super::PodGroupResourceClaim;
use super::PodGroupSchedulingConstraints;
use super::PodGroupSchedulingPolicy;

/// Related groups of pods, such as those of a distributed computation. Alpha feature.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "scheduling.k8s.io",
    version = "v1alpha2",
    feature = crate::features::GENERIC_WORKLOAD,
    strategy,
    strategy_extensions
)]
pub struct Workload {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Templates of the groups.
    #[field(proto = 2, keep)]
    pub spec: WorkloadSpec,
}

/// Templates of the groups of a workload.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct WorkloadSpec {
    /// Object that manages the pods, for tools. Immutable.
    #[field(proto = 1)]
    pub controller_ref: Option<TypedLocalObjectReference>,
    /// Templates of the groups, at most 8. Immutable.
    #[field(proto = 2, keep, list_type = map, list_map_keys("name"))]
    pub pod_group_templates: Vec<PodGroupTemplate>,
}

/// Template of a group of pods.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodGroupTemplate {
    /// Name of the template in its workload.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Scheduling of the pods: one by one or all together. Immutable.
    #[field(proto = 2, keep)]
    pub scheduling_policy: PodGroupSchedulingPolicy,
    /// Constraints on all pods of the group. Belongs to an alpha feature that is disabled here: values are dropped.
    #[field(proto = 3, keep, optional)]
    pub scheduling_constraints: Option<PodGroupSchedulingConstraints>,
    /// Device claims that the pods of the group share, at most 4. Belongs to an alpha feature that is disabled here:
    /// values are dropped.
    #[field(proto = 4, list_type = map, list_map_keys("name"), patch_strategy(merge, retain_keys), patch_merge_key = "name")]
    pub resource_claims: Vec<PodGroupResourceClaim>,
    /// Unit of preemption: single pods or the whole group. Belongs to an alpha feature that is disabled here: values
    /// are dropped.
    #[field(proto = 5, known("Pod", "PodGroup"), go_type = "DisruptionMode")]
    pub disruption_mode: Option<String>,
    /// Priority class of the group. Belongs to an alpha feature that is disabled here: values are dropped.
    #[field(proto = 6)]
    pub priority_class_name: String,
    /// Priority of the group. Belongs to an alpha feature that is disabled here: values are dropped.
    #[field(proto = 7)]
    pub priority: Option<i32>,
}

/// Reference to an object in the same namespace.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TypedLocalObjectReference {
    /// API group of the object. Empty for the core group.
    #[field(proto = 1)]
    pub api_group: String,
    /// Kind of the object.
    #[field(proto = 2, keep)]
    pub kind: String,
    /// Name of the object.
    #[field(proto = 3, keep)]
    pub name: String,
}

/// Maximum number of templates of a workload.
const MAX_TEMPLATES: usize = 8;

impl Strategy for Workload {
    fn prepare_for_create(&mut self, _: &Context<'_>) {
        for template in &mut self.spec.pod_group_templates {
            template.drop_alpha();
        }
    }

    fn prepare_for_update(&mut self, _: &Context<'_>, old: &Self) {
        // Stored values may stay.
        let stored = |template: &PodGroupTemplate| old.spec.pod_group_templates.contains(template);
        for template in &mut self.spec.pod_group_templates {
            if !stored(template) {
                template.drop_alpha();
            }
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        let errors = &mut *errors.at("spec");
        if let Some(controller) = &self.spec.controller_ref {
            controller.check(&mut errors.at("controllerRef"));
        }
        let templates = &self.spec.pod_group_templates;
        if templates.is_empty() {
            return errors.required("podGroupTemplates", "");
        }
        if templates.len() > MAX_TEMPLATES {
            return errors.too_many("podGroupTemplates", templates.len(), MAX_TEMPLATES as u64);
        }
        for (index, template) in templates.iter().enumerate() {
            if templates[..index].iter().any(|other| other.name == template.name) {
                let errors = &mut *errors.at_index("podGroupTemplates", index);
                errors.duplicate("", template as &dyn Value);
            }
        }
        for (index, template) in templates.iter().enumerate() {
            template.check(&mut errors.at_index("podGroupTemplates", index));
        }
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        let errors = &mut *errors.at("spec");
        if self.spec.controller_ref != old.spec.controller_ref {
            errors.immutable("controllerRef");
        }
        if self.spec.pod_group_templates != old.spec.pod_group_templates {
            errors.immutable("podGroupTemplates");
        }
    }
}

impl StrategyExtensions for Workload {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_ONLY;
}

impl TypedLocalObjectReference {
    fn check(&self, errors: &mut FieldErrors) {
        if !self.api_group.is_empty() {
            for problem in names::long_name(&self.api_group) {
                errors.invalid("apiGroup", &self.api_group, problem);
            }
        }
        for (field, value) in [("kind", &self.kind), ("name", &self.name)] {
            if value.is_empty() {
                errors.required(field, "");
            }
            for problem in names::path_segment(value) {
                errors.invalid(field, value, problem);
            }
        }
    }
}

impl PodGroupTemplate {
    /// Drops fields of disabled alpha features.
    fn drop_alpha(&mut self) {
        self.scheduling_constraints = None;
        self.resource_claims.clear();
        self.disruption_mode = None;
        self.priority_class_name.clear();
        self.priority = None;
    }

    fn check(&self, errors: &mut FieldErrors) {
        if self.name.is_empty() {
            errors.required("name", "");
        } else {
            for problem in names::short_name(&self.name) {
                errors.invalid("name", &self.name, problem);
            }
        }
        self.scheduling_policy.check(&mut errors.at("schedulingPolicy"));
        check_claims(&self.resource_claims, errors);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn messages(spec: Value) -> Vec<String> {
        let workload = Workload {
            spec: serde_json::from_value(spec).unwrap(),
            ..Workload::default()
        };
        let mut errors = FieldErrors::default();
        workload.validate(&mut errors);
        errors.as_slice().iter().map(|error| error.message()).collect()
    }

    #[test]
    fn workloads_are_checked_in_the_words_of_declared_rules() {
        let gang = |name: &str, count: i32| json!({"name": name, "schedulingPolicy": {"gang": {"minCount": count}}});
        let both = json!({"name": "a", "schedulingPolicy": {"basic": {}, "gang": {"minCount": 0}}});
        let long = "a".repeat(254);
        let cases = [
            (json!({"podGroupTemplates": [gang("a", 1)]}), vec![]),
            (json!({"podGroupTemplates": []}), vec!["spec.podGroupTemplates: Required value".to_owned()]),
            (
                json!({"podGroupTemplates": [gang("a", 0), gang("b", -1)]}),
                vec![
                    "spec.podGroupTemplates[0].schedulingPolicy.gang.minCount: Required value".to_owned(),
                    "spec.podGroupTemplates[1].schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than \
                     or equal to 1"
                        .to_owned(),
                ],
            ),
            (
                json!({"podGroupTemplates": [both]}),
                vec![
                    "spec.podGroupTemplates[0].schedulingPolicy: Invalid value: \"{basic, gang}\": must specify exactly one \
                     of: `basic`, `gang`"
                        .to_owned(),
                    "spec.podGroupTemplates[0].schedulingPolicy.gang.minCount: Required value".to_owned(),
                ],
            ),
            (
                json!({"podGroupTemplates": [gang(&long[..64], 1)], "controllerRef": {"apiGroup": long, "kind": "k", "name": "n"}}),
                vec![
                    format!("spec.controllerRef.apiGroup: Invalid value: \"{long}\": must be no more than 253 bytes"),
                    format!(
                        "spec.podGroupTemplates[0].name: Invalid value: \"{}\": must be no more than 63 bytes",
                        &long[..64]
                    ),
                ],
            ),
            (
                json!({"podGroupTemplates": [gang("a", 0), gang("a", 2)]}),
                vec![
                    r#"spec.podGroupTemplates[1]: Duplicate value: {"name":"a","schedulingPolicy":{"gang":{"minCount":2}},"schedulingConstraints":null}"#.to_owned(),
                    "spec.podGroupTemplates[0].schedulingPolicy.gang.minCount: Required value".to_owned(),
                ],
            ),
        ];
        for (spec, expected) in cases {
            assert_eq!(messages(spec.clone()), expected, "{spec}");
        }
    }

    #[test]
    fn errors_of_changed_fields_have_no_value() {
        let old = Workload::default();
        let mut new = old.clone();
        new.spec.controller_ref = Some(TypedLocalObjectReference::default());
        new.spec.pod_group_templates.push(PodGroupTemplate::default());
        let mut errors = FieldErrors::default();
        new.validate_update(&old, &mut errors);
        let found: Vec<String> = errors.as_slice().iter().map(|error| error.message()).collect();
        let immutable = |field: &str| format!("spec.{field}: Invalid value: null: field is immutable");
        assert_eq!(found, [immutable("controllerRef"), immutable("podGroupTemplates")]);
    }
}
