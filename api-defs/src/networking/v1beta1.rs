//! `networking.k8s.io/v1beta1`: IP addresses and service CIDRs are served, ingresses and their classes no longer.

mod ingress;
mod ingress_class;
mod ip_address;
mod service_cidr;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use ingress::{
    HTTPIngressPath, HTTPIngressRuleValue, Ingress, IngressBackend, IngressRule, IngressRuleValue, IngressSpec,
};
pub use ingress_class::IngressClass;
pub use ip_address::{IPAddress, IPAddressSpec, ParentReference};
pub use service_cidr::{ServiceCIDR, ServiceCIDRSpec, ServiceCIDRStatus};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(17_200, 9);
