//! Ingress classes in a version that is no longer served.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;

use crate::networking::v1::{self, IngressClassSpec};

/// A class of ingresses that share a controller.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "networking.k8s.io",
    version = "v1beta1",
    cluster,
    unserved,
    generation,
    strategy
)]
#[resource(storage_version = v1::IngressClass)]
pub struct IngressClass {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The controller that implements ingresses of the class, and its parameters.
    #[field(proto = 2)]
    pub spec: IngressClassSpec,
}

impl Strategy for IngressClass {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }
}
