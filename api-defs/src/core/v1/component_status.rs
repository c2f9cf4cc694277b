//! Health of control plane components.

mod columns;

use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::{Resource, Struct};

/// Health of a control plane component, determined by a probe. Deprecated: components report their health in other
/// ways.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "",
    version = "v1",
    cluster,
    plural = "componentstatuses",
    short("cs"),
    read_only,
    deprecated = "v1 ComponentStatus is deprecated in v1.19+"
)]
#[resource(
    column(name),
    column(name = "Status", type = "string", doc = "Healthy, Unhealthy or Unknown.", with = columns::status),
    column(name = "Message", type = "string", doc = "Response of the component.", with = columns::message),
    column(name = "Error", type = "string", doc = "Error of the probe.", with = columns::error)
)]
pub struct ComponentStatus {
    /// Standard metadata. The name is that of the component.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Conditions. Healthy is True if the component is healthy.
    #[field(proto = 2, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<ComponentCondition>,
}

/// A condition of a component.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ComponentCondition {
    /// Type of the condition: Healthy.
    #[field(proto = 1, keep, go_type = "ComponentConditionType")]
    pub type_: String,
    /// True, False or Unknown.
    #[field(proto = 2, keep, go_type = "ConditionStatus")]
    pub status: String,
    /// Response of the component.
    #[field(proto = 3)]
    pub message: String,
    /// Reason why the probe failed.
    #[field(proto = 4)]
    pub error: String,
}
