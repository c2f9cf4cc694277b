//! What requests are counted under.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method, StatusCode};

use crate::request::{Query, RequestInfo, Verb};

/// What is needed of a request's head to count it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks {
    dry_run: &'static str,
    apply: bool,
}

impl Marks {
    /// Looks at a request that is about to be handled.
    pub(crate) fn of(method: &Method, query: Option<&str>, headers: &HeaderMap) -> Self {
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

/// What a request is counted under.
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

/// Labels without those that only some metrics have.
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
    pub(super) fn of(info: &'a RequestInfo, marks: Marks, code: StatusCode) -> Self {
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

    /// For a resource that nobody serves: what clients invent is no label.
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

/// The verb as metrics have it: mostly the method.
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

/// How much a request is about: lists are about all that the path leads to, whichever names they select.
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

/// The path, if it is one of those that are asked all the time.
fn health_check(path: &str) -> &'static str {
    match path {
        "/healthz" => "/healthz",
        "/livez" => "/livez",
        "/readyz" => "/readyz",
        _ => "",
    }
}
