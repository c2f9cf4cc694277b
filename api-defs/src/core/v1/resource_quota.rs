//! Resource quotas: limits on the total usage of a namespace.

mod check;
mod columns;
#[cfg(test)]
mod tests;
mod warnings;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::{Resource, Struct};

use super::resource_list::{ResourceList, round_up_to_milli};

/// Limits on the total usage of a namespace, and the current usage.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "",
    version = "v1",
    short("quota"),
    status,
    returns_deleted,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Request", type = "string", doc = "Used and allowed requests and counts.", with = columns::request),
    column(name = "Limit", type = "string", doc = "Used and allowed limits.", with = columns::limit),
    column(age)
)]
pub struct ResourceQuota {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired limits.
    #[field(proto = 2)]
    pub spec: ResourceQuotaSpec,
    /// Enforced limits and current usage.
    #[field(proto = 3)]
    pub status: ResourceQuotaStatus,
}

/// Limits on the total usage of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceQuotaSpec {
    /// Maximum total of each resource: quantities such as requests.cpu, or numbers of objects such as
    /// count/deployments.apps.
    #[field(proto = 1, go_type = "ResourceList")]
    pub hard: ResourceList,
    /// Scopes of the counted objects; an object counts if all scopes match it, and every object counts when empty.
    /// BestEffort and NotBestEffort select by the pod's quality of service class, Terminating and NotTerminating by the
    /// presence of a deadline. Immutable.
    #[field(proto = 2, list_type = atomic, known(
        "BestEffort",
        "CrossNamespacePodAffinity",
        "NotBestEffort",
        "NotTerminating",
        "PriorityClass",
        "Terminating",
        "VolumeAttributesClass"
    ), go_type = "[]ResourceQuotaScope")]
    pub scopes: Vec<String>,
    /// Further limits on the counted objects by scopes with values, such as the priority class of a pod.
    #[field(proto = 3)]
    pub scope_selector: Option<ScopeSelector>,
}

/// A selector of objects by scopes.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct ScopeSelector {
    /// Requirements, all of which must hold.
    #[field(proto = 1, list_type = atomic)]
    pub match_expressions: Vec<ScopedResourceSelectorRequirement>,
}

/// A requirement on one scope.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ScopedResourceSelectorRequirement {
    /// The scope: Terminating, NotTerminating, BestEffort, NotBestEffort, PriorityClass, CrossNamespacePodAffinity or
    /// VolumeAttributesClass.
    #[field(
        proto = 1,
        keep,
        known(
            "BestEffort",
            "CrossNamespacePodAffinity",
            "NotBestEffort",
            "NotTerminating",
            "PriorityClass",
            "Terminating",
            "VolumeAttributesClass"
        ),
        go_type = "ResourceQuotaScope"
    )]
    pub scope_name: String,
    /// Relation of the scope to the values: In, NotIn, Exists or DoesNotExist.
    #[field(
        proto = 2,
        keep,
        known("DoesNotExist", "Exists", "In", "NotIn"),
        go_type = "ScopeSelectorOperator"
    )]
    pub operator: String,
    /// Values: at least one for In and NotIn, none for the others.
    #[field(proto = 3, list_type = atomic)]
    pub values: Vec<String>,
}

/// Enforced limits and current usage.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceQuotaStatus {
    /// Enforced limits, which a controller copies from the spec.
    #[field(proto = 1, go_type = "ResourceList")]
    pub hard: ResourceList,
    /// Current usage of each resource.
    #[field(proto = 2, go_type = "ResourceList")]
    pub used: ResourceList,
}

impl Strategy for ResourceQuota {
    fn set_defaults(&mut self) {
        for list in [&mut self.spec.hard, &mut self.status.hard, &mut self.status.used] {
            round_up_to_milli(list);
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(&mut errors.at("spec"));
        self.status.check(&mut errors.at("status"));
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.spec.check(&mut errors.at("spec"));
        if !check::same_scopes(&self.spec.scopes, &old.spec.scopes) {
            errors.invalid("spec.scopes", self.spec.scopes.as_slice(), "field is immutable");
        }
    }

    fn validate_status_update(&self, _old: &Self, errors: &mut FieldErrors) {
        self.status.check(&mut errors.at("status"));
    }

    fn warnings_on_create(&self) -> Vec<String> {
        warnings::requests_above_limits(&self.spec.hard)
    }

    fn warnings_on_update(&self, _: &Self) -> Vec<String> {
        Vec::new()
    }
}

impl StrategyExtensions for ResourceQuota {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_ONLY;
}
