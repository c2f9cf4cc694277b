//! Priority levels, which limit and queue requests.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::resource::Convert;
use planesmith_machinery::strategy::Strategy;

use super::PriorityLevelConfigurationSpec;
use crate::flowcontrol::v1;
use crate::flowcontrol::v1::{KEEPS_ZERO, PriorityLevelConfigurationStatus, SHARES};

/// A priority level: the share of the server's concurrency for its requests, and the behavior when it is exceeded.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "flowcontrol.apiserver.k8s.io",
    version = "v1beta3",
    cluster,
    status,
    generation,
    storage_version = v1::PriorityLevelConfiguration,
    convert,
    unserved,
    strategy
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

impl Strategy for PriorityLevelConfiguration {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
        if let Some(limited) = &mut self.spec.limited
            && limited.nominal_concurrency_shares == 0
            && !self.metadata.annotations.contains_key(KEEPS_ZERO)
        {
            limited.nominal_concurrency_shares = SHARES;
        }
    }
}

impl Convert<v1::PriorityLevelConfiguration> for PriorityLevelConfiguration {
    fn finish_to_hub(&self, hub: &mut v1::PriorityLevelConfiguration) {
        self.spec.finish_to_hub(&mut hub.spec);
        hub.metadata.annotations.remove(KEEPS_ZERO);
    }

    fn finish_from_hub(&mut self, hub: &v1::PriorityLevelConfiguration) {
        self.spec.finish_from_hub(&hub.spec);
        let limited = self.spec.limited.as_ref();
        if limited.is_some_and(|limited| limited.nominal_concurrency_shares == 0) {
            let annotations = &mut self.metadata.annotations;
            annotations.entry(KEEPS_ZERO.to_owned()).or_default();
        }
    }

    fn can_hold(hub: &v1::PriorityLevelConfiguration) -> bool {
        PriorityLevelConfigurationSpec::can_hold(&hub.spec) && !hub.metadata.annotations.contains_key(KEEPS_ZERO)
    }
}
