//! Which requests go where.

use planesmith_machinery::Struct;

use super::IngressBackend;

/// Which requests for one host go where.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct IngressRule {
    /// The host, as a domain name without a port; `*.example.com` stands for all hosts one level below example.com. Empty
    /// for all hosts.
    #[field(proto = 1)]
    pub host: String,
    /// What is done with the requests.
    #[field(inline, proto = 2)]
    pub ingress_rule_value: IngressRuleValue,
}

/// What is done with requests for a host.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct IngressRuleValue {
    /// Where HTTP requests go. Without it, to the default backend.
    #[field(proto = 1)]
    pub http: Option<HTTPIngressRuleValue>,
}

/// Where HTTP requests go, by path.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HTTPIngressRuleValue {
    /// Paths and their backends; at least one.
    #[field(proto = 1, keep, list_type = atomic)]
    pub paths: Vec<HTTPIngressPath>,
}

/// A path and its backend.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HTTPIngressPath {
    /// The path, starting with a slash; needed unless pathType is ImplementationSpecific.
    #[field(proto = 1)]
    pub path: String,
    /// How the path is compared with that of a request: Exact to the letter; Prefix element by element, so that /foo takes
    /// /foo/bar but not /foobar; ImplementationSpecific as the controller likes.
    #[field(
        proto = 3,
        keep,
        expected,
        known("Exact", "Prefix", "ImplementationSpecific"),
        go_type = "PathType"
    )]
    pub path_type: Option<String>,
    /// The service or other object that takes the requests on this path.
    #[field(proto = 2, keep)]
    pub backend: IngressBackend,
}
