//! `v1`: flow schemas and priority levels.

mod flow_schema;
mod priority_level_configuration;

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
