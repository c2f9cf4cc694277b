//! `apidiscovery.k8s.io/v2`: aggregated discovery.

mod api_group_discovery;

pub use api_group_discovery::{APIGroupDiscovery, APIResourceDiscovery, APISubresourceDiscovery, APIVersionDiscovery};
