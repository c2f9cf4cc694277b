//! Groups as the first version of aggregated discovery lists them.

use crate::apidiscovery::v2::APIVersionDiscovery;
use planesmith_machinery::Struct;
use planesmith_machinery::meta::ObjectMeta;

/// A group with all its versions and their resources, as aggregated discovery lists it.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("apidiscovery.k8s.io/v2beta1", "APIGroupDiscovery"))]
pub struct APIGroupDiscovery {
    /// Standard metadata. The name is that of the group; empty for the core group.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Versions of the group, the preferred one first.
    #[field(proto = 2, list_type = map, list_map_keys("version"))]
    pub versions: Vec<APIVersionDiscovery>,
}
