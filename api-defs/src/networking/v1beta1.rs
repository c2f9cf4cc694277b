//! `networking.k8s.io/v1beta1`: IP addresses and service CIDRs are served, ingresses and their classes no longer.

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
