//! How schemas and levels fare.

use planesmith_machinery::Struct;

use crate::flowcontrol::v1::{FlowSchemaCondition, PriorityLevelConfigurationCondition};

/// How a schema fares.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct FlowSchemaStatus {
    /// Aspects of the schema.
    #[field(proto = 1, list_type = map, list_map_keys("type"))]
    pub conditions: Vec<FlowSchemaCondition>,
}

/// How a level fares.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PriorityLevelConfigurationStatus {
    /// Aspects of the level.
    #[field(proto = 1, list_type = map, list_map_keys("type"))]
    pub conditions: Vec<PriorityLevelConfigurationCondition>,
}
