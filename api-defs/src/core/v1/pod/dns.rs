//! Names that a pod resolves in its own way.

use planesmith_machinery::Struct;

/// Host alias.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HostAlias {
    /// The ip.
    #[field(proto = 1, keep)]
    pub ip: String,
    /// The hostnames.
    #[field(proto = 2, list_type = atomic)]
    pub hostnames: Vec<String>,
}

/// Pod dnsconfig.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodDNSConfig {
    /// The nameservers.
    #[field(proto = 1, list_type = atomic)]
    pub nameservers: Vec<String>,
    /// The searches.
    #[field(proto = 2, list_type = atomic)]
    pub searches: Vec<String>,
    /// The options.
    #[field(proto = 3, list_type = atomic)]
    pub options: Vec<PodDNSConfigOption>,
}

/// Pod dnsconfig option.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodDNSConfigOption {
    /// The name.
    #[field(proto = 1)]
    pub name: String,
    /// The value.
    #[field(proto = 2)]
    pub value: Option<String>,
}
