//! Roles for the whole cluster.

use planesmith_machinery::field_error::{FieldErrors, Json};
use planesmith_machinery::meta::{LabelSelector, ObjectMeta};
use planesmith_machinery::resource::Scope;
use planesmith_machinery::selector::LabelQuery;
use planesmith_machinery::strategy::{Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::validation::{SelectorValues, check_label_selector};
use planesmith_machinery::{Resource, Struct};

use super::policy_rule::{PolicyRule, check};
use crate::created_at::created_at;

/// A set of permissions. A ClusterRoleBinding grants them in the whole cluster, a RoleBinding in its namespace only.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "rbac.authorization.k8s.io",
    version = "v1",
    cluster,
    name_rule = whole_path_segment,
    create_on_update,
    strategy, strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Created At", type = "date", doc = "Creation time.", with = created_at)
)]
pub struct ClusterRole {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Permissions, which are additive; there are no deny rules. A controller writes them if aggregationRule is set.
    #[field(proto = 2, keep, optional, list_type = atomic)]
    pub rules: Vec<PolicyRule>,
    /// Selects other roles whose rules are combined. When set, a controller overwrites rules.
    #[field(proto = 3)]
    pub aggregation_rule: Option<AggregationRule>,
}

/// Selects the roles whose rules are combined into a role.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct AggregationRule {
    /// Label selectors of ClusterRoles whose rules are combined. A role is included if any selector matches.
    #[field(proto = 1, list_type = atomic)]
    pub cluster_role_selectors: Vec<LabelSelector>,
}

impl Strategy for ClusterRole {
    fn validate(&self, errors: &mut FieldErrors) {
        self.check(SelectorValues::Legal, errors);
    }
}

impl StrategyExtensions for ClusterRole {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_FIRST;

    fn validate_replacement(&self, old: &Self, errors: &mut FieldErrors) {
        let selectors = old
            .aggregation_rule
            .iter()
            .flat_map(|rule| &rule.cluster_role_selectors);
        let any = selectors
            .map(SelectorValues::as_stored)
            .any(|values| values == SelectorValues::Any);
        let values = if any {
            SelectorValues::Any
        } else {
            SelectorValues::Legal
        };
        self.check(values, errors);
    }
}

impl ClusterRole {
    fn check(&self, values: SelectorValues, errors: &mut FieldErrors) {
        check(&self.rules, Scope::Cluster, errors);
        if let Some(rule) = &self.aggregation_rule {
            rule.check(values, &mut errors.at("aggregationRule"));
        }
    }
}

impl AggregationRule {
    fn check(&self, values: SelectorValues, errors: &mut FieldErrors) {
        const FIELD: &str = "clusterRoleSelectors";
        if self.cluster_role_selectors.is_empty() {
            let detail = "at least one clusterRoleSelector required if aggregationRule is non-nil";
            errors.required(FIELD, detail);
        }
        for (index, selector) in self.cluster_role_selectors.iter().enumerate() {
            let errors = &mut *errors.at_index(FIELD, index);
            check_label_selector(selector, values, errors);
            if LabelQuery::of_selector(selector).is_err() {
                errors.invalid("", Json("null"), "invalid label selector.");
            }
        }
    }
}
