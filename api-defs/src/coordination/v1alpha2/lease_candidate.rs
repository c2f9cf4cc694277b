//! Candidates for leases.

use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::micro_time::MicroTime;
use planesmith_machinery::{Resource, Struct};

/// A candidate for a lease and its versions, by which the best candidate is chosen.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "coordination.k8s.io",
    version = "v1alpha2",
    name_rule = config_key,
    create_on_update,
    conditional_update
)]
#[resource(storage_version = crate::coordination::v1beta1::LeaseCandidate)]
#[resource(deprecated = "coordination.k8s.io/v1alpha2 LeaseCandidate is deprecated in v1.35+, unavailable in v1.38+")]
pub struct LeaseCandidate {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The lease and the capabilities of the candidate.
    #[field(proto = 2, expected)]
    pub spec: LeaseCandidateSpec,
}

/// The lease and the capabilities of a candidate.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct LeaseCandidateSpec {
    /// Name of the lease. Immutable.
    #[field(proto = 1, keep)]
    pub lease_name: String,
    /// Time of the last liveness request to the candidate.
    #[field(proto = 2)]
    pub ping_time: Option<MicroTime>,
    /// Time of the candidate's last response to a liveness request.
    #[field(proto = 3)]
    pub renew_time: Option<MicroTime>,
    /// Version of the candidate's binary.
    #[field(proto = 4, keep)]
    pub binary_version: String,
    /// Version that the candidate emulates, not above the binary version.
    #[field(proto = 5)]
    pub emulation_version: String,
    /// Strategy to choose the best candidate. The highest strategy of all candidates is used.
    #[field(proto = 6, expected)]
    pub strategy: String,
}
