//! Limits of priority levels.

use planesmith_machinery::Struct;

use crate::flowcontrol::v1::{self, ExemptPriorityLevelConfiguration, LimitResponse};

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
    pub assured_concurrency_shares: i32,
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

impl PriorityLevelConfigurationSpec {
    /// Sets the defaults that depend on the spec only.
    pub(in crate::flowcontrol) fn set_defaults(&mut self) {
        if let Some(limited) = &mut self.limited {
            limited.lendable_percent.get_or_insert(0);
            limited.limit_response.set_defaults();
        }
        if let Some(exempt) = &mut self.exempt {
            exempt.set_defaults();
        }
    }

    /// Copies the shares to the storage version, which distinguishes zero from absent.
    pub(in crate::flowcontrol) fn finish_to_hub(&self, hub: &mut v1::PriorityLevelConfigurationSpec) {
        if let (Some(limited), Some(hub)) = (&self.limited, &mut hub.limited) {
            hub.nominal_concurrency_shares = Some(limited.assured_concurrency_shares);
        }
    }

    /// Copies the shares from the storage version.
    pub(in crate::flowcontrol) fn finish_from_hub(&mut self, hub: &v1::PriorityLevelConfigurationSpec) {
        if let (Some(limited), Some(hub)) = (&mut self.limited, &hub.limited) {
            limited.assured_concurrency_shares = hub.nominal_concurrency_shares.unwrap_or_default();
        }
    }

    /// True if this version can represent `hub`: a limited level specifies its shares.
    pub(in crate::flowcontrol) fn can_hold(hub: &v1::PriorityLevelConfigurationSpec) -> bool {
        let limited = hub.limited.as_ref();
        limited.is_none_or(|limited| limited.nominal_concurrency_shares.is_some())
    }
}
