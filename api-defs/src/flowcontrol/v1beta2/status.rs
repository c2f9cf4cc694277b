//! Observed state of flow schemas and priority levels.

use planesmith_machinery::Struct;

use crate::flowcontrol::v1::{FlowSchemaCondition, PriorityLevelConfigurationCondition};

/// Observed state of a schema.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct FlowSchemaStatus {
    /// Conditions of the schema.
    #[field(proto = 1, list_type = map, list_map_keys("type"))]
    pub conditions: Vec<FlowSchemaCondition>,
}

/// Observed state of a priority level.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PriorityLevelConfigurationStatus {
    /// Conditions of the level.
    #[field(proto = 1, list_type = map, list_map_keys("type"))]
    pub conditions: Vec<PriorityLevelConfigurationCondition>,
}
