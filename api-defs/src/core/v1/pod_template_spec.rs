//! Templates from which controllers make pods.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::ObjectMeta;

use crate::core::v1::PodSpec;

/// Pod template spec.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodTemplateSpec {
    /// The metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The spec.
    #[field(proto = 2)]
    pub spec: PodSpec,
}
