//! Roles for one namespace.

use planesmith_machinery::Resource;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::resource::Scope;
use planesmith_machinery::strategy::{Strategy, StrategyExtensions, UpdateStep, update_order};

use super::policy_rule::{PolicyRule, check};
use crate::created_at::created_at;

/// A set of permissions in one namespace. A RoleBinding grants them to users, groups and service accounts.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "rbac.authorization.k8s.io",
    version = "v1",
    name_rule = whole_path_segment,
    create_on_update,
    strategy, strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Created At", type = "date", doc = "Creation time.", with = created_at)
)]
pub struct Role {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Permissions, which are additive; there are no deny rules.
    #[field(proto = 2, keep, optional, list_type = atomic)]
    pub rules: Vec<PolicyRule>,
}

impl Strategy for Role {
    fn validate(&self, errors: &mut FieldErrors) {
        check(&self.rules, Scope::Namespaced, errors);
    }
}

impl StrategyExtensions for Role {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_FIRST;
}
