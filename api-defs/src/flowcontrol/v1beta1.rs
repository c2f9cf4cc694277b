//! `v1beta1`, which is no longer served. Its structure is that of `v1beta2`.

mod flow_schema;
mod priority_level_configuration;

pub use flow_schema::FlowSchema;
pub use priority_level_configuration::PriorityLevelConfiguration;
