//! Representative kinds, and objects of them.

use planesmith_api_defs::admissionregistration::v1::ValidatingAdmissionPolicy;
use planesmith_api_defs::apiextensions::v1::CustomResourceDefinition;
use planesmith_api_defs::apps::v1::Deployment;
use planesmith_api_defs::autoscaling::v2::HorizontalPodAutoscaler;
use planesmith_api_defs::core::v1::{ConfigMap, Event, Node, Pod, Secret, Service};
use planesmith_api_defs::networking::v1::NetworkPolicy;
use planesmith_api_defs::resource::v1::ResourceClaim;
use planesmith_api_defs::samples;
use planesmith_machinery::object::{Object, Resource};
use planesmith_machinery::resource::ResourceFacts;

/// Kinds that together have fields of every shape.
pub(crate) const KINDS: [&ResourceFacts; 12] = [
    Pod::RESOURCE,
    Service::RESOURCE,
    ConfigMap::RESOURCE,
    Secret::RESOURCE,
    Node::RESOURCE,
    Event::RESOURCE,
    Deployment::RESOURCE,
    CustomResourceDefinition::RESOURCE,
    HorizontalPodAutoscaler::RESOURCE,
    NetworkPolicy::RESOURCE,
    ResourceClaim::RESOURCE,
    ValidatingAdmissionPolicy::RESOURCE,
];

/// Samples of each kind.
const SAMPLES: u64 = 2;

/// Returns the kind chosen by the first byte of `input`, and the rest of the input.
pub(crate) fn choose(input: &[u8]) -> Option<(&ResourceFacts, &[u8])> {
    let (first, rest) = input.split_first()?;
    Some((KINDS[usize::from(*first) % KINDS.len()], rest))
}

/// Returns objects of all kinds, each after the byte that chooses its kind.
pub(crate) fn samples(encode: impl Fn(&dyn Object) -> Vec<u8>) -> Vec<Vec<u8>> {
    let generator = samples::samples();
    let mut samples = Vec::new();
    for (index, kind) in (0u8..).zip(KINDS) {
        let objects = (0..SAMPLES).filter_map(|seed| generator.sample(kind, seed).ok());
        samples.extend(objects.map(|object| [vec![index], encode(&*object)].concat()));
    }
    samples
}

/// Splits an input of several parts at zero bytes.
pub(crate) fn pieces<const N: usize>(input: &[u8]) -> Option<[&[u8]; N]> {
    let pieces: Vec<_> = input.splitn(N, |byte| *byte == 0).collect();
    pieces.try_into().ok()
}

/// Joins the parts of an input.
pub(crate) fn join(pieces: &[&[u8]]) -> Vec<u8> {
    pieces.join(&0)
}
