//! Addresses that are taken, in the version that came before v1.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

use crate::networking::v1::{self, IPAddressSpec};

/// An address that is taken, under its own canonical form as the name. The server makes them for services.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(deprecated = "networking.k8s.io/v1beta1 IPAddress is deprecated in v1.34+, unavailable in v1.37+")]
#[resource(group = "networking.k8s.io", version = "v1beta1", cluster, short("ip"), name_rule = path_segment)]
#[resource(storage_version = v1::IPAddress)]
pub struct IPAddress {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Who has the address.
    #[field(proto = 2)]
    pub spec: IPAddressSpec,
}
