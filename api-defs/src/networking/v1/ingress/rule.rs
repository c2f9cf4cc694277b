//! Rules that route requests.

use planesmith_machinery::Struct;

use super::IngressBackend;

/// Rule that routes the requests for one host.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct IngressRule {
    /// Host of the requests, a domain name without a port; `*.example.com` matches hosts one level below example.com.
    /// All hosts when empty.
    #[field(proto = 1)]
    pub host: String,
    /// Routes of the requests.
    #[field(inline, proto = 2)]
    pub ingress_rule_value: IngressRuleValue,
}

/// Routes of the requests for a host.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct IngressRuleValue {
    /// Routes of HTTP requests. Without them, requests go to the default backend.
    #[field(proto = 1)]
    pub http: Option<HTTPIngressRuleValue>,
}

/// Routes of HTTP requests by path.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HTTPIngressRuleValue {
    /// Paths and their backends; at least one.
    #[field(proto = 1, keep, list_type = atomic)]
    pub paths: Vec<HTTPIngressPath>,
}

/// A path and its backend.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HTTPIngressPath {
    /// Path of the requests, starting with a slash. Optional when pathType is ImplementationSpecific.
    #[field(proto = 1)]
    pub path: String,
    /// Type of path matching: Exact compares the whole path; Prefix compares element by element, so that /foo matches
    /// /foo/bar but not /foobar; ImplementationSpecific leaves the comparison to the controller.
    #[field(
        proto = 3,
        keep,
        expected,
        known("Exact", "Prefix", "ImplementationSpecific"),
        go_type = "PathType"
    )]
    pub path_type: Option<String>,
    /// Backend of the requests.
    #[field(proto = 2, keep)]
    pub backend: IngressBackend,
}
