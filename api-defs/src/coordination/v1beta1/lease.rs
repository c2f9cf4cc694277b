//! Leases.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

use crate::coordination::v1::LeaseSpec;

/// A claim that its holder renews and that others may take over after it has expired.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "coordination.k8s.io", version = "v1beta1", unserved)]
#[resource(storage_version = crate::coordination::v1::Lease)]
pub struct Lease {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Holder and duration of the claim.
    #[field(proto = 2)]
    pub spec: LeaseSpec,
}
