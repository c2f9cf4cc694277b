//! `apidiscovery.k8s.io`: the documents of aggregated discovery.

pub mod v2;
pub mod v2beta1;
