//! `apiregistration.k8s.io/v1beta1`: no longer served.

mod api_service;

pub use api_service::APIService;
