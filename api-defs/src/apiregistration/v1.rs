//! `apiregistration.k8s.io/v1`: API services, the servers of group versions.

mod api_service;

pub use api_service::{APIService, APIServiceCondition, APIServiceSpec, APIServiceStatus, ServiceReference};
