//! `networking.k8s.io/v1`.

mod ingress;
mod ingress_class;
mod ip_address;
mod network_policy;
mod reference;
mod service_cidr;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use ingress::{
    HTTPIngressPath, HTTPIngressRuleValue, Ingress, IngressBackend, IngressLoadBalancerIngress,
    IngressLoadBalancerStatus, IngressPortStatus, IngressRule, IngressRuleValue, IngressServiceBackend, IngressSpec,
    IngressStatus, IngressTLS, ServiceBackendPort,
};
pub use ingress_class::{IngressClass, IngressClassParametersReference, IngressClassSpec};
pub use ip_address::{IPAddress, IPAddressSpec, ParentReference};
pub use network_policy::{
    IPBlock, NetworkPolicy, NetworkPolicyEgressRule, NetworkPolicyIngressRule, NetworkPolicyPeer, NetworkPolicyPort,
    NetworkPolicySpec,
};
pub use service_cidr::{ServiceCIDR, ServiceCIDRSpec, ServiceCIDRStatus};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(17_200, 15);
