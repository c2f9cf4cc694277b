//! `apiregistration.k8s.io/v1`: which server answers for which group version.

mod api_service;

pub use api_service::{APIService, APIServiceCondition, APIServiceSpec, APIServiceStatus, ServiceReference};
