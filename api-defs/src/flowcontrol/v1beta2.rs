//! `v1beta2`, which is no longer served. Shares have another name.

mod flow_schema;
mod limited;
mod priority_level_configuration;
mod status;

pub use flow_schema::FlowSchema;
pub use limited::{LimitedPriorityLevelConfiguration, PriorityLevelConfigurationSpec};
pub use priority_level_configuration::PriorityLevelConfiguration;
pub use status::{FlowSchemaStatus, PriorityLevelConfigurationStatus};
