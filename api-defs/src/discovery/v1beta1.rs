//! `discovery.k8s.io/v1beta1`: not served any more.

mod endpoint_slice;

pub use endpoint_slice::{Endpoint, EndpointConditions, EndpointHints, EndpointPort, EndpointSlice, ForNode, ForZone};
