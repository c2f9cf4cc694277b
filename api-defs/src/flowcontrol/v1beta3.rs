//! `v1beta3`, which is no longer served.

mod flow_schema;
mod limited;
mod priority_level_configuration;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use flow_schema::FlowSchema;
pub use limited::{LimitedPriorityLevelConfiguration, PriorityLevelConfigurationSpec};
pub use priority_level_configuration::PriorityLevelConfiguration;

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(16_100, 18);
