//! Request info: the meaning of a path and a method.

use std::borrow::Cow;
use std::ops::Range;

use http::{Method, Uri};
use percent_encoding::percent_decode_str;
use planesmith_machinery::selector::FieldQuery;

use super::Verb;
use super::query::Query;

/// The meaning of a request, parsed from its method and path once, before any other filter uses it.
///
/// All texts are slices of one decoded copy of the path.
///
/// Source: the request forms of the Kubernetes API (`/api/{version}/...`, `/apis/{group}/{version}/...`).
#[derive(Clone, Debug)]
pub struct RequestInfo {
    path: Box<str>,
    verb: Verb,
    method: Method,
    is_resource: bool,
    prefix: Span,
    group: Span,
    version: Span,
    namespace: Span,
    /// True if a namespace precedes the resource, even with an empty name.
    is_below_namespace: bool,
    resource: Span,
    name: Span,
    subresource: Span,
    rest: Span,
    selected_name: Option<Box<str>>,
    /// The verb that is a part of the path.
    path_verb: Option<Verb>,
}

/// A range of the path. Paths are bounded by the listener's header limit, far below 4 GiB.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Path segments behind the API version that old clients use instead of a method or parameter.
const PATH_VERBS: [&str; 2] = ["proxy", "watch"];
/// Subresources of a namespace; any other path segment after its name is a resource in it.
const NAMESPACE_SUBRESOURCES: [&str; 2] = ["status", "finalize"];

impl Default for RequestInfo {
    /// Returns the info of `GET /`.
    fn default() -> Self {
        Self::new(&Method::GET, &Uri::from_static("/"))
    }
}

impl RequestInfo {
    /// Parses the method, path and query of a request.
    #[must_use]
    pub fn new(method: &Method, uri: &Uri) -> Self {
        let path = match percent_decode_str(uri.path()).decode_utf8_lossy() {
            Cow::Borrowed(path) => Box::from(path),
            Cow::Owned(path) => path.into_boxed_str(),
        };
        let mut info = Self {
            path,
            verb: Verb::of_path(method),
            method: method.clone(),
            is_resource: false,
            prefix: Span::default(),
            group: Span::default(),
            version: Span::default(),
            namespace: Span::default(),
            is_below_namespace: false,
            resource: Span::default(),
            name: Span::default(),
            subresource: Span::default(),
            rest: Span::default(),
            selected_name: None,
            path_verb: None,
        };
        info.read_path();
        if info.is_resource && info.name.range().is_empty() {
            info.read_query(uri.query().unwrap_or_default());
        }
        info
    }

    /// True if a namespace precedes the resource in the path, even with an empty name.
    #[must_use]
    pub fn is_below_namespace(&self) -> bool {
        self.is_below_namespace
    }

    /// True if the path ends with one of the old verb segments, so that it names no resource.
    #[must_use]
    pub fn lacks_a_subject(path: &str) -> bool {
        let Some((before, verb)) = path.trim_matches('/').rsplit_once('/') else {
            return false;
        };
        // The condition that few paths fulfil is checked first.
        PATH_VERBS.contains(&verb)
            && match before.split_once('/') {
                Some(("api", version)) => !version.contains('/'),
                Some(("apis", rest)) => rest.split_once('/').is_some_and(|(_, version)| !version.contains('/')),
                _ => false,
            }
    }

    fn read_path(&mut self) {
        let mut parts = Parts::new(&self.path);
        if parts.count() < 3 {
            return;
        }
        let prefix = parts.next();
        match self.slice(prefix) {
            "api" => {}
            "apis" if parts.count() >= 3 => self.group = parts.next(),
            "apis" => {
                self.prefix = prefix;
                return;
            }
            _ => return,
        }
        self.prefix = prefix;
        self.is_resource = true;
        self.version = parts.next();
        self.verb = Verb::of_resource(&self.method);
        if PATH_VERBS.contains(&parts.peek()) && parts.count() > 1 {
            self.verb = if parts.peek() == "proxy" {
                Verb::Proxy
            } else {
                Verb::Watch
            };
            self.path_verb = Some(self.verb);
            parts.next();
        }
        if parts.peek() == "namespaces" && parts.count() > 1 {
            let mut inside = parts.clone();
            inside.next();
            self.namespace = inside.next();
            if inside.count() > 0 && !NAMESPACE_SUBRESOURCES.contains(&inside.peek()) {
                parts = inside;
                self.is_below_namespace = true;
            }
        }
        let (resource, name) = (parts.next(), parts.next());
        let subresource = if self.verb == Verb::Proxy {
            Span::default()
        } else {
            parts.next()
        };
        let rest = parts.rest();
        self.resource = resource;
        self.name = name;
        self.subresource = subresource;
        self.rest = rest;
    }

    /// Adapts the verb of a request without a name: a read is a list or a watch, which may select a single name after
    /// all, and a delete removes the collection.
    fn read_query(&mut self, query: &str) {
        match self.verb {
            Verb::Get => {
                self.verb = if requests_watch(query) { Verb::Watch } else { Verb::List };
                self.selected_name = selected_name(query);
            }
            Verb::Delete => self.verb = Verb::DeleteCollection,
            _ => {}
        }
    }

    fn slice(&self, span: Span) -> &str {
        &self.path[span.range()]
    }

    /// The verb of the request.
    #[must_use]
    pub fn verb(&self) -> Verb {
        self.verb
    }

    /// The verb that the path contains instead of a method or parameter, as old clients send it.
    #[must_use]
    pub fn path_verb(&self) -> Option<Verb> {
        self.path_verb
    }

    /// The verb in rules and messages; for a path that is not a resource, it is the method in lower case.
    #[must_use]
    pub fn verb_text(&self) -> Cow<'static, str> {
        match self.verb {
            Verb::Unknown if !self.is_resource => Cow::Owned(self.method.as_str().to_lowercase()),
            verb => Cow::Borrowed(verb.as_str()),
        }
    }

    /// The HTTP method.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The decoded path.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// True if the path names a resource; otherwise only [`path`](Self::path) and the verb are meaningful.
    #[must_use]
    pub fn is_resource(&self) -> bool {
        self.is_resource
    }

    /// `api` or `apis`; empty when the path is not a resource.
    #[must_use]
    pub fn prefix(&self) -> &str {
        self.slice(self.prefix)
    }

    /// API group; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        self.slice(self.group)
    }

    /// API version.
    #[must_use]
    pub fn version(&self) -> &str {
        self.slice(self.version)
    }

    /// Namespace; empty when the path has none. A path to a namespace itself has its name here, too.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.slice(self.namespace)
    }

    /// Resource, e.g. `configmaps`.
    #[must_use]
    pub fn resource(&self) -> &str {
        self.slice(self.resource)
    }

    /// Name of the object, or the name that a list or watch selects; may be empty.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.selected_name {
            Some(name) => name,
            None => self.slice(self.name),
        }
    }

    /// Name of the object in the path; empty for a collection.
    #[must_use]
    pub fn path_name(&self) -> &str {
        self.slice(self.name)
    }

    /// Subresource, e.g. `status`; may be empty.
    #[must_use]
    pub fn subresource(&self) -> &str {
        self.slice(self.subresource)
    }

    /// True if the path names a namespace itself, which is then both the object and the namespace.
    #[must_use]
    pub fn is_namespace(&self) -> bool {
        !self.namespace.range().is_empty() && self.namespace.start == self.name.start
    }

    /// The path behind the subresource, without its leading slash; may be empty.
    #[must_use]
    pub fn rest(&self) -> &str {
        self.slice(self.rest)
    }

    /// The path behind the subresource in `uri`, from which this was parsed: still encoded, with its leading slash.
    /// Empty when there is none, or no subresource.
    #[must_use]
    pub fn encoded_rest<'u>(&self, uri: &'u Uri) -> &'u str {
        let subresource = self.subresource.range();
        if subresource.is_empty() {
            return "";
        }
        let path = uri.path();
        let mut at = 0;
        for _ in 0..subresource.end {
            // A byte is one character, or `%` and two digits.
            let digits = path.as_bytes().get(at + 1..at + 3);
            let is_encoded = path.as_bytes().get(at) == Some(&b'%')
                && digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
            at += if is_encoded { 3 } else { 1 };
        }
        path.get(at..).unwrap_or_default()
    }

    /// True if the request may change something, by its method.
    #[must_use]
    pub fn is_mutating(&self) -> bool {
        !matches!(self.method, Method::GET | Method::HEAD | Method::OPTIONS)
    }

    /// True if the client, or the size of the store, decides how long the answer lasts: watches, streams into a workload, and
    /// work on the whole store.
    ///
    /// Such requests have no deadline and do not count as in flight.
    #[must_use]
    pub fn is_long_running(&self) -> bool {
        const STREAMS: [&str; 5] = ["attach", "exec", "log", "portforward", "proxy"];
        if !self.is_resource {
            return self.path.starts_with("/planesmith/store/");
        }
        matches!(self.verb, Verb::Watch | Verb::Proxy) || STREAMS.contains(&self.subresource())
    }
}

/// The segments of the path, without its outer slashes.
#[derive(Clone)]
struct Parts<'a> {
    path: &'a str,
    /// Start of the next segment; past the end when none is left.
    at: usize,
    end: usize,
}

impl<'a> Parts<'a> {
    fn new(path: &'a str) -> Self {
        let start = path.len() - path.trim_start_matches('/').len();
        let end = start + path[start..].trim_end_matches('/').len();
        let at = if start == end { end + 1 } else { start };
        Self { path, at, end }
    }

    fn left(&self) -> &'a str {
        self.path.get(self.at..self.end).unwrap_or_default()
    }

    fn count(&self) -> usize {
        if self.at > self.end {
            0
        } else {
            self.left().bytes().filter(|byte| *byte == b'/').count() + 1
        }
    }

    fn peek(&self) -> &'a str {
        let left = self.left();
        left.split_once('/').map_or(left, |(first, _)| first)
    }

    fn next(&mut self) -> Span {
        if self.at > self.end {
            return Span::default();
        }
        let span = span(self.at, self.at + self.peek().len());
        self.at = span.end as usize + 1;
        span
    }

    fn rest(&self) -> Span {
        if self.at > self.end {
            Span::default()
        } else {
            span(self.at, self.end)
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the listener bounds a request's head far below 4 GiB"
)]
fn span(start: usize, end: usize) -> Span {
    Span {
        start: start as u32,
        end: end as u32,
    }
}

/// True if the query's first `watch` parameter is anything but `false` or `0`.
fn requests_watch(query: &str) -> bool {
    Query::new(query).flag("watch") == Some(true)
}

/// The exact name that a field selector requires, if it requires one: that of the first of several terms, in the order of their
/// texts.
fn selected_name(query: &str) -> Option<Box<str>> {
    let selector = Query::new(query).first("fieldSelector")?;
    let selector = FieldQuery::parse(&selector).ok()?;
    let name = selector.exact("metadata.name")?;
    let is_segment = !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '%']);
    is_segment.then(|| name.into())
}

/// Decodes a query value.
pub(crate) fn decode(value: &str) -> Cow<'_, str> {
    if value.contains('+') {
        Cow::Owned(
            percent_decode_str(&value.replace('+', " "))
                .decode_utf8_lossy()
                .into_owned(),
        )
    } else {
        percent_decode_str(value).decode_utf8_lossy()
    }
}
