//! Priority levels, which limit and queue requests.

mod check;
mod columns;
mod mandatory;
#[cfg(test)]
mod tests;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::time::Time;
use planesmith_machinery::{Resource, Struct};

use super::flow_schema::condition_types;

/// Default shares of a level.
pub(in crate::flowcontrol) const SHARES: i32 = 30;

/// Annotation that distinguishes zero shares from absent ones in v1beta3. The conversion removes it.
pub(in crate::flowcontrol) const KEEPS_ZERO: &str = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";

/// A priority level: the share of the server's concurrency for its requests, and the behavior when it is exceeded.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "flowcontrol.apiserver.k8s.io",
    version = "v1",
    cluster,
    status,
    status_resets("metadata"),
    generation,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Type", type = "string", doc = "Type of the level.", path = "spec.type"),
    column(name = "NominalConcurrencyShares", type = "string", doc = "Share of the server's concurrency.", with = columns::shares),
    column(name = "Queues", type = "string", doc = "Number of queues.", with = columns::queues),
    column(name = "HandSize", type = "string", doc = "Number of queues that a flow may use.", with = columns::hand_size),
    column(name = "QueueLengthLimit", type = "string", doc = "Maximum number of requests in one queue.", with = columns::queue_length),
    column(age)
)]
pub struct PriorityLevelConfiguration {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Limits of the level.
    #[field(proto = 2)]
    pub spec: PriorityLevelConfigurationSpec,
    /// Observed state.
    #[field(proto = 3)]
    pub status: PriorityLevelConfigurationStatus,
}

/// Limits of a priority level.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(union)]
pub struct PriorityLevelConfigurationSpec {
    /// Type of the level: Limited, or Exempt for requests without limits.
    #[field(name = "type", proto = 1, keep, discriminator, go_type = "PriorityLevelEnablement")]
    pub type_: String,
    /// Limits for the type Limited.
    #[field(proto = 2)]
    pub limited: Option<LimitedPriorityLevelConfiguration>,
    /// Settings for the type Exempt.
    #[field(proto = 3)]
    pub exempt: Option<ExemptPriorityLevelConfiguration>,
}

/// Limits of a priority level of the type Limited.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct LimitedPriorityLevelConfiguration {
    /// Share of the server's concurrency, in proportion to the shares of all levels. Default: 30.
    #[field(proto = 1, keep, optional)]
    pub nominal_concurrency_shares: Option<i32>,
    /// Behavior when the limit is exceeded.
    #[field(proto = 2)]
    pub limit_response: LimitResponse,
    /// Percentage of the level's concurrency that other levels may borrow while it is unused. Default: 0.
    #[field(proto = 3)]
    pub lendable_percent: Option<i32>,
    /// Maximum concurrency that the level may borrow from others, in percent of its own. No limit when absent.
    #[field(proto = 4)]
    pub borrowing_limit_percent: Option<i32>,
}

/// Settings of a priority level of the type Exempt.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ExemptPriorityLevelConfiguration {
    /// Share of the server's concurrency reserved for the level, in proportion to the shares of all levels. Default: 0.
    #[field(proto = 1)]
    pub nominal_concurrency_shares: Option<i32>,
    /// Percentage of the level's concurrency that other levels may borrow while it is unused. Default: 0.
    #[field(proto = 2)]
    pub lendable_percent: Option<i32>,
}

/// Behavior when the limit of a level is exceeded.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(union)]
pub struct LimitResponse {
    /// Type of the response: Queue lets requests wait, Reject refuses them.
    #[field(name = "type", proto = 1, keep, discriminator, go_type = "LimitResponseType")]
    pub type_: String,
    /// Queuing parameters for the type Queue.
    #[field(proto = 2)]
    pub queuing: Option<QueuingConfiguration>,
}

/// Queuing parameters of a priority level.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct QueuingConfiguration {
    /// Number of queues. More queues isolate flows better. Default: 64.
    #[field(proto = 1, keep, optional)]
    pub queues: i32,
    /// Number of queues that one flow may use. Default: 8.
    #[field(proto = 2, keep, optional)]
    pub hand_size: i32,
    /// Maximum number of requests in one queue. Default: 50.
    #[field(proto = 3, keep, optional)]
    pub queue_length_limit: i32,
}

/// Observed state of a priority level.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PriorityLevelConfigurationStatus {
    /// Conditions of the level.
    #[field(proto = 1, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<PriorityLevelConfigurationCondition>,
}

/// A condition of a level.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PriorityLevelConfigurationCondition {
    /// Type of the condition.
    #[field(name = "type", proto = 1, go_type = "PriorityLevelConfigurationConditionType")]
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

impl Strategy for PriorityLevelConfiguration {
    fn prepare_for_status_update(&mut self, _: &Context<'_>, old: &Self) {
        self.metadata.keep_for_status(&old.metadata);
    }

    fn set_defaults(&mut self) {
        if let Some(limited) = &mut self.spec.limited {
            limited.nominal_concurrency_shares.get_or_insert(SHARES);
            limited.lendable_percent.get_or_insert(0);
            limited.limit_response.set_defaults();
        }
        if let Some(exempt) = &mut self.spec.exempt {
            exempt.set_defaults();
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        let name = self.metadata.name.as_str();
        if self.metadata.annotations.contains_key(KEEPS_ZERO) {
            errors.forbidden(
                "metadata.annotations",
                format!("annotation '{KEEPS_ZERO}' is forbidden"),
            );
        }
        self.spec.check(name, &mut errors.at("spec"));
        self.spec.check_mandatory(name, errors);
        self.status.check(errors);
    }

    fn validate_status_update(&self, _old: &Self, errors: &mut FieldErrors) {
        self.status.check(errors);
    }
}

impl StrategyExtensions for PriorityLevelConfiguration {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_ONLY;
}

impl LimitResponse {
    pub(in crate::flowcontrol) fn set_defaults(&mut self) {
        let Some(queuing) = &mut self.queuing else { return };
        for (value, default) in [
            (&mut queuing.queues, 64),
            (&mut queuing.hand_size, 8),
            (&mut queuing.queue_length_limit, 50),
        ] {
            if *value == 0 {
                *value = default;
            }
        }
    }
}

impl ExemptPriorityLevelConfiguration {
    pub(in crate::flowcontrol) fn set_defaults(&mut self) {
        self.nominal_concurrency_shares.get_or_insert(0);
        self.lendable_percent.get_or_insert(0);
    }
}

impl PriorityLevelConfigurationStatus {
    fn check(&self, errors: &mut FieldErrors) {
        let types = self.conditions.iter().map(|condition| condition.type_.as_str());
        condition_types(types, &mut errors.at("status"));
    }
}
