//! Flow schemas, which classify requests.

mod check;
mod columns;
mod mandatory;
mod rule;
mod subject;
#[cfg(test)]
mod tests;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::time::Time;
use planesmith_machinery::{Resource, Struct};

pub(in crate::flowcontrol) use check::condition_types;
pub use rule::{NonResourcePolicyRule, PolicyRulesWithSubjects, ResourcePolicyRule};
pub use subject::{GroupSubject, ServiceAccountSubject, Subject, UserSubject};

/// Default matching precedence.
const PRECEDENCE: i32 = 1000;

/// Classifies requests and assigns them to a priority level.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "flowcontrol.apiserver.k8s.io",
    version = "v1",
    cluster,
    status,
    status_resets("metadata"),
    generation,
    rows_by = "spec.matchingPrecedence",
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "PriorityLevel", type = "string", doc = "The priority of the requests.", path = "spec.priorityLevelConfiguration.name"),
    column(name = "MatchingPrecedence", type = "string", doc = "Matching precedence; the lowest wins.", with = columns::precedence),
    column(name = "DistinguisherMethod", type = "string", doc = "Method that distinguishes flows.", with = columns::method),
    column(age),
    column(name = "MissingPL", type = "string", doc = "True if the priority level does not exist.", with = columns::missing_level)
)]
pub struct FlowSchema {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Requests that match the schema, and their priority level.
    #[field(proto = 2)]
    pub spec: FlowSchemaSpec,
    /// Observed state.
    #[field(proto = 3)]
    pub status: FlowSchemaStatus,
}

/// Requests that match a schema, and their priority level.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct FlowSchemaSpec {
    /// Priority level of the requests. They are refused while it does not exist.
    #[field(proto = 1, keep)]
    pub priority_level_configuration: PriorityLevelConfigurationReference,
    /// Precedence among several matching schemas, 1 to 10000. The lowest number wins.
    #[field(proto = 2, keep, optional)]
    pub matching_precedence: i32,
    /// Method that distinguishes the flows of the schema. All requests form one flow when absent.
    #[field(proto = 3)]
    pub distinguisher_method: Option<FlowDistinguisherMethod>,
    /// Rules that describe the matching requests. A request matches if any rule matches.
    #[field(proto = 4, list_type = atomic)]
    pub rules: Vec<PolicyRulesWithSubjects>,
}

/// Reference to a priority level.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PriorityLevelConfigurationReference {
    /// Name of the priority level.
    #[field(proto = 1, keep)]
    pub name: String,
}

/// Method that distinguishes flows.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct FlowDistinguisherMethod {
    /// Method: ByUser or ByNamespace.
    #[field(name = "type", proto = 1, keep, go_type = "FlowDistinguisherMethodType")]
    pub type_: String,
}

/// Observed state of a schema.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct FlowSchemaStatus {
    /// Conditions of the schema. Dangling is True if its priority level does not exist.
    #[field(proto = 1, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<FlowSchemaCondition>,
}

/// A condition of a schema.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct FlowSchemaCondition {
    /// Type of the condition.
    #[field(name = "type", proto = 1, go_type = "FlowSchemaConditionType")]
    pub type_: String,
    /// Status of the condition: True, False or Unknown.
    #[field(proto = 2, go_type = "ConditionStatus")]
    pub status: String,
    /// Time of the last change of status.
    #[field(proto = 3)]
    pub last_transition_time: Time,
    /// CamelCase reason of the last transition, for programs.
    #[field(proto = 4)]
    pub reason: String,
    /// Human-readable explanation of the state.
    #[field(proto = 5)]
    pub message: String,
}

impl Strategy for FlowSchema {
    fn prepare_for_status_update(&mut self, _: &Context<'_>, old: &Self) {
        self.metadata.keep_for_status(&old.metadata);
    }

    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }

    fn validate(&self, errors: &mut FieldErrors) {
        let name = self.metadata.name.as_str();
        self.spec.check(name, &mut errors.at("spec"));
        if FlowSchemaSpec::mandatory(name).is_some_and(|fixed| fixed != self.spec) {
            let detail = format!("spec of '{name}' must equal the fixed value");
            errors.invalid("spec", GoValue(&self.spec), detail);
        }
        check::conditions(&self.status, errors);
    }

    fn validate_status_update(&self, _old: &Self, errors: &mut FieldErrors) {
        check::conditions(&self.status, errors);
    }
}

impl StrategyExtensions for FlowSchema {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_ONLY;
}

impl FlowSchemaSpec {
    /// Sets the defaults that do not depend on other fields.
    pub(in crate::flowcontrol) fn set_defaults(&mut self) {
        if self.matching_precedence == 0 {
            self.matching_precedence = PRECEDENCE;
        }
    }
}
