//! `apidiscovery.k8s.io/v2beta1`: aggregated discovery in its first version.

mod api_group_discovery;

pub use api_group_discovery::APIGroupDiscovery;
