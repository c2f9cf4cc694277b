//! `discovery.k8s.io/v1beta1`, which is no longer served.

mod endpoint_slice;

pub use endpoint_slice::{Endpoint, EndpointConditions, EndpointHints, EndpointPort, EndpointSlice, ForNode, ForZone};
