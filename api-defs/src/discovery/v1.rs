//! `discovery.k8s.io/v1`.

mod endpoint_slice;

pub use endpoint_slice::{Endpoint, EndpointConditions, EndpointHints, EndpointPort, EndpointSlice, ForNode, ForZone};
