//! `networking.k8s.io/v1beta1`: addresses and their ranges are served, ingresses and their classes not any more.

mod ingress;
mod ingress_class;
mod ip_address;
mod service_cidr;

pub use ingress::{
    HTTPIngressPath, HTTPIngressRuleValue, Ingress, IngressBackend, IngressRule, IngressRuleValue, IngressSpec,
};
pub use ingress_class::IngressClass;
pub use ip_address::{IPAddress, IPAddressSpec, ParentReference};
pub use service_cidr::{ServiceCIDR, ServiceCIDRSpec, ServiceCIDRStatus};
