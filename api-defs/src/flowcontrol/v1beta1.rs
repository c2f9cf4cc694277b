//! `v1beta1`: not served any more; shaped as `v1beta2`.

mod flow_schema;
mod priority_level_configuration;

pub use flow_schema::FlowSchema;
pub use priority_level_configuration::PriorityLevelConfiguration;
