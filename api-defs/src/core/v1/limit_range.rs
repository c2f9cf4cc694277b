//! Limit ranges: limits on single objects of a namespace.

mod check;
#[cfg(test)]
mod tests;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::{Resource, Struct};

use super::resource_list::{ResourceList, round_up_to_milli};
use crate::created_at::created_at;

/// Type of limits on containers, the only one with defaults.
const CONTAINER: &str = "Container";

/// Limits and defaults for the resources of each pod, container or claim of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "",
    version = "v1",
    short("limits"),
    create_on_update,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Created At", type = "date", doc = "Creation time.", with = created_at)
)]
pub struct LimitRange {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Limits, one element for each type of object.
    #[field(proto = 2)]
    pub spec: LimitRangeSpec,
}

/// Limits on single objects.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct LimitRangeSpec {
    /// Limits, one element for each type of object.
    #[field(proto = 1, keep, list_type = atomic)]
    pub limits: Vec<LimitRangeItem>,
}

/// Limits and defaults for objects of one type.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct LimitRangeItem {
    /// Type of the limited objects: Container, Pod (the sum of its containers), PersistentVolumeClaim, or a type with a
    /// domain prefix that another component enforces.
    #[field(name = "type", proto = 1, keep, go_type = "LimitType")]
    pub type_: String,
    /// Maximum limit of each resource per object.
    #[field(proto = 2, go_type = "ResourceList")]
    pub max: ResourceList,
    /// Minimum request of each resource per object.
    #[field(proto = 3, go_type = "ResourceList")]
    pub min: ResourceList,
    /// Default limit of containers. Missing entries default to max.
    #[field(proto = 4, go_type = "ResourceList")]
    pub default: ResourceList,
    /// Default request of containers. Missing entries default to default, then to min.
    #[field(proto = 5, go_type = "ResourceList")]
    pub default_request: ResourceList,
    /// Maximum ratio of the limit to the request of one object. Both must then be set and not be zero.
    #[field(proto = 6, go_type = "ResourceList")]
    pub max_limit_request_ratio: ResourceList,
}

impl Strategy for LimitRange {
    fn set_defaults(&mut self) {
        for item in &mut self.spec.limits {
            item.set_defaults();
        }
    }

    fn prepare_for_create(&mut self, _: &Context<'_>) {
        if self.metadata.name.is_empty() {
            self.metadata.name.clone_from(&self.metadata.uid);
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        check::check(&self.spec.limits, &mut errors.at("spec"));
    }
}

impl StrategyExtensions for LimitRange {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_ONLY;
}

impl LimitRangeItem {
    fn set_defaults(&mut self) {
        if self.type_ == CONTAINER {
            complete(&mut self.default, &self.max);
            complete(&mut self.default_request, &self.default);
            complete(&mut self.default_request, &self.min);
        }
        for list in [
            &mut self.max,
            &mut self.min,
            &mut self.default,
            &mut self.default_request,
            &mut self.max_limit_request_ratio,
        ] {
            round_up_to_milli(list);
        }
    }
}

/// Copies entries of `source` that `list` lacks.
fn complete(list: &mut ResourceList, source: &ResourceList) {
    for (name, amount) in source {
        list.entry(name.clone()).or_insert_with(|| amount.clone());
    }
}
