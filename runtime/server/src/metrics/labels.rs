//! The labels of requests.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method, StatusCode};

use crate::request::{Query, RequestInfo, Verb};

/// The parts of a request's head that its labels need.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LabelSource {
    dry_run: &'static str,
    apply: bool,
}

impl LabelSource {
    /// Reads the head of a request that is about to be handled.
    pub(crate) fn from_request(method: &Method, query: Option<&str>, headers: &HeaderMap) -> Self {
        if *method == Method::GET {
            return Self::default();
        }
        let content_type = headers.get(CONTENT_TYPE).map_or(&b""[..], |value| value.as_bytes());
        let dry_run = query.and_then(|query| Query::new(query).first("dryRun"));
        Self {
            dry_run: dry_run.map_or("", |value| if value == "All" { "All" } else { "invalid" }),
            apply: *method == Method::PATCH && content_type.starts_with(b"application/apply-patch+"),
        }
    }
}

/// The labels of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Labels<'a> {
    pub(super) verb: &'static str,
    pub(super) dry_run: &'static str,
    pub(super) group: &'a str,
    pub(super) version: &'a str,
    pub(super) resource: &'a str,
    pub(super) subresource: &'a str,
    pub(super) scope: &'static str,
    pub(super) code: StatusCode,
}

/// The labels that all metrics of requests share.
pub(super) const PLACE: [&str; 7] = [
    "verb",
    "group",
    "version",
    "resource",
    "subresource",
    "scope",
    "component",
];

impl<'a> Labels<'a> {
    pub(super) fn new(info: &'a RequestInfo, marks: LabelSource, code: StatusCode) -> Self {
        Self {
            verb: verb(info, marks.apply),
            dry_run: marks.dry_run,
            group: info.group(),
            version: info.version(),
            resource: info.resource(),
            subresource: match info.is_resource() {
                true => info.subresource(),
                false => health_check(info.path()),
            },
            scope: scope(info),
            code,
        }
    }

    /// The labels for a resource that is not served: names that clients invent do not become labels.
    pub(super) fn without_resource(self) -> Self {
        Self {
            group: "",
            version: "",
            resource: "",
            subresource: "",
            scope: "",
            ..self
        }
    }

    /// The values of [`PLACE`].
    pub(super) fn place(&self) -> [&'a str; 7] {
        [
            self.verb,
            self.group,
            self.version,
            self.resource,
            self.subresource,
            self.scope,
            "apiserver",
        ]
    }
}

/// The verb in metrics: mostly the method.
fn verb(info: &RequestInfo, apply: bool) -> &'static str {
    const CONNECTIONS: [&str; 5] = ["log", "exec", "portforward", "attach", "proxy"];
    if CONNECTIONS.contains(&info.subresource()) {
        return "CONNECT";
    }
    match info.verb() {
        Verb::Get => "GET",
        Verb::List => "LIST",
        Verb::Watch => "WATCH",
        Verb::Create | Verb::Post => "POST",
        Verb::Update | Verb::Put => "PUT",
        Verb::Patch if apply => "APPLY",
        Verb::Patch => "PATCH",
        Verb::Delete => "DELETE",
        Verb::DeleteCollection => "DELETECOLLECTION",
        Verb::Proxy => "CONNECT",
        Verb::Head if matches!(scope(info), "namespace" | "cluster") => "LIST",
        Verb::Head => "GET",
        Verb::Options | Verb::Unknown => "other",
    }
}

/// The scope of a request. The scope of a list is that of its path, even if it selects a single name.
fn scope(info: &RequestInfo) -> &'static str {
    if !info.is_resource() {
        ""
    } else if !info.path_name().is_empty() || info.verb() == Verb::Create {
        "resource"
    } else if !info.namespace().is_empty() {
        "namespace"
    } else {
        "cluster"
    }
}

/// The path, if it is one that probes request.
fn health_check(path: &str) -> &'static str {
    match path {
        "/healthz" => "/healthz",
        "/livez" => "/livez",
        "/readyz" => "/readyz",
        _ => "",
    }
}
