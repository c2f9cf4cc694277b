//! `v1beta3`, which is no longer served.

mod flow_schema;
mod limited;
mod priority_level_configuration;

pub use flow_schema::FlowSchema;
pub use limited::{LimitedPriorityLevelConfiguration, PriorityLevelConfigurationSpec};
pub use priority_level_configuration::PriorityLevelConfiguration;
