//! Discovery documents: groups, versions and resources.

use crate::Struct;

/// Name and versions of a group.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "APIGroup", type_meta("v1", "APIGroup"))]
pub struct ApiGroup {
    /// Name of the group.
    #[field(keep, required, proto = 1)]
    pub name: String,
    /// Versions of the group.
    #[field(keep, required, proto = 2, list_type = atomic)]
    pub versions: Vec<GroupVersionForDiscovery>,
    /// The version that clients should prefer.
    #[field(proto = 3)]
    pub preferred_version: GroupVersionForDiscovery,
    /// Addresses of the server by client network.
    #[field(name = "serverAddressByClientCIDRs", proto = 4, list_type = atomic)]
    pub server_address_by_client_cidrs: Vec<ServerAddressByClientCidr>,
}

/// All groups of the server, at `/apis`.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "APIGroupList", type_meta("v1", "APIGroupList"))]
pub struct ApiGroupList {
    /// The groups.
    #[field(keep, required, proto = 1, list_type = atomic)]
    pub groups: Vec<ApiGroup>,
}

/// Versions of the group without a name, at `/api`.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "APIVersions", type_meta("", "APIVersions"))]
pub struct ApiVersions {
    /// The versions.
    #[field(keep, required, proto = 1, list_type = atomic)]
    pub versions: Vec<String>,
    /// Addresses of the server by client network.
    #[field(keep, required, name = "serverAddressByClientCIDRs", proto = 2, list_type = atomic)]
    pub server_address_by_client_cidrs: Vec<ServerAddressByClientCidr>,
}

/// A version of a group.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct GroupVersionForDiscovery {
    /// Group and version: `group/version`.
    #[field(keep, required, proto = 1)]
    pub group_version: String,
    /// The version alone.
    #[field(keep, required, proto = 2)]
    pub version: String,
}

/// The address of the server for clients in one network.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "ServerAddressByClientCIDR")]
pub struct ServerAddressByClientCidr {
    /// The network that the client's address must lie in.
    #[field(keep, required, name = "clientCIDR", proto = 1)]
    pub client_cidr: String,
    /// The server's address: a host, or a host and a port.
    #[field(keep, required, proto = 2)]
    pub server_address: String,
}
