//! Ingresses in their first group.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::resource::Convert;
use planesmith_machinery::strategy::Strategy;

use crate::networking::v1::{self, IngressStatus};
use crate::networking::v1beta1::IngressSpec;

/// Rules that route HTTP requests from outside of the cluster to services.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "extensions",
    version = "v1beta1",
    short("ing"),
    status,
    generation,
    unserved,
    storage_version = v1::Ingress,
    convert,
    strategy
)]
pub struct Ingress {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired state.
    #[field(proto = 2)]
    pub spec: IngressSpec,
    /// Observed state.
    #[field(proto = 3)]
    pub status: IngressStatus,
}

impl Strategy for Ingress {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }
}

impl Convert<v1::Ingress> for Ingress {
    fn finish_to_hub(&self, hub: &mut v1::Ingress) {
        self.spec.backends_to_v1(&mut hub.spec);
    }

    fn finish_from_hub(&mut self, hub: &v1::Ingress) {
        self.spec.backends_of_v1(&hub.spec);
    }

    fn can_hold(hub: &v1::Ingress) -> bool {
        IngressSpec::can_hold(&hub.spec)
    }
}
