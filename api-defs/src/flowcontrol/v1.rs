//! `v1`: flow schemas and priority levels.

mod flow_schema;
mod priority_level_configuration;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use flow_schema::{
    FlowDistinguisherMethod, FlowSchema, FlowSchemaCondition, FlowSchemaSpec, FlowSchemaStatus, GroupSubject,
    NonResourcePolicyRule, PolicyRulesWithSubjects, PriorityLevelConfigurationReference, ResourcePolicyRule,
    ServiceAccountSubject, Subject, UserSubject,
};
pub use priority_level_configuration::{
    ExemptPriorityLevelConfiguration, LimitResponse, LimitedPriorityLevelConfiguration, PriorityLevelConfiguration,
    PriorityLevelConfigurationCondition, PriorityLevelConfigurationSpec, PriorityLevelConfigurationStatus,
    QueuingConfiguration,
};
pub(in crate::flowcontrol) use priority_level_configuration::{KEEPS_ZERO, SHARES};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(16_100, 21);
