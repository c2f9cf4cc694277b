//! Allocated IP addresses, in v1beta1.

use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::{Resource, Struct};

use crate::networking::v1;

/// An allocated IP address, whose canonical form is the name of the object. The server creates them for services.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(deprecated = "networking.k8s.io/v1beta1 IPAddress is deprecated in v1.34+, unavailable in v1.37+")]
#[resource(group = "networking.k8s.io", version = "v1beta1", cluster, short("ip"), name_rule = ip_address)]
#[resource(storage_version = v1::IPAddress)]
pub struct IPAddress {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Owner of the IP address.
    #[field(proto = 2, expected)]
    pub spec: IPAddressSpec,
}

/// Owner of an IP address.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct IPAddressSpec {
    /// Reference to the owner of the address. Immutable.
    #[field(proto = 1, expected)]
    pub parent_ref: Option<ParentReference>,
}

/// Reference to an object by its resource.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ParentReference {
    /// API group of the object.
    #[field(proto = 1)]
    pub group: String,
    /// Resource of the object, such as services.
    #[field(proto = 2, expected)]
    pub resource: String,
    /// Namespace of the object.
    #[field(proto = 3)]
    pub namespace: String,
    /// Name of the object.
    #[field(proto = 4, expected)]
    pub name: String,
}
