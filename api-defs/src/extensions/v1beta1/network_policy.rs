//! Network policies in extensions/v1beta1, the first group of the kind.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::resource::Convert;
use planesmith_machinery::strategy::Strategy;

use crate::networking::v1::{self, NetworkPolicySpec};

/// Traffic that a set of pods may receive and send.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "extensions",
    version = "v1beta1",
    short("netpol"),
    generation,
    unserved,
    storage_version = v1::NetworkPolicy,
    convert,
    strategy
)]
pub struct NetworkPolicy {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The allowed traffic.
    #[field(proto = 2)]
    pub spec: NetworkPolicySpec,
}

impl Strategy for NetworkPolicy {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }
}

impl Convert<v1::NetworkPolicy> for NetworkPolicy {
    fn finish_to_hub(&self, _hub: &mut v1::NetworkPolicy) {}

    fn finish_from_hub(&mut self, _hub: &v1::NetworkPolicy) {}
}
