//! Operations on a path.

use serde_json::{Value, json};

use super::names::META;
use super::parameter::{self, Parameter};
use super::schema::Dialect;

/// The action of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Lists the resources of a group version.
    Discover,
    Get,
    List,
    Watch,
    WatchList,
    Create,
    Replace,
    Patch,
    Delete,
    DeleteCollection,
    /// Proxies a connection with this method.
    Connect(&'static str),
}

/// An operation of a path.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) action: Action,
    pub(super) id: String,
    pub(super) doc: String,
    /// The definition of the object that is read or written.
    pub(super) subject: String,
    /// The response, if it is not the subject.
    pub(super) answer: Option<Answer>,
    /// Group, version and kind of the subject; `None` for discovery.
    pub(super) kind: Option<(String, String, String)>,
}

/// The response of an operation.
#[derive(Debug)]
pub(super) enum Answer {
    /// An object of this definition.
    Object(String),
    /// Plain text.
    Text,
    /// An arbitrary response of the connection's target.
    Anything,
}

/// The body of a request.
pub(super) enum Body<'a> {
    None,
    /// The object itself.
    Subject(&'a str),
    /// Optional delete options.
    DeleteOptions,
    /// A patch in one of several formats.
    Patch,
}

impl Action {
    /// Returns the HTTP method as OpenAPI writes it.
    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Discover | Self::Get | Self::List | Self::Watch | Self::WatchList => "get",
            Self::Create => "post",
            Self::Replace => "put",
            Self::Patch => "patch",
            Self::Delete | Self::DeleteCollection => "delete",
            Self::Connect(method) => method,
        }
    }

    /// `x-kubernetes-action`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Discover => "",
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::WatchList => "watchlist",
            Self::Create => "post",
            Self::Replace => "put",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
            Self::Connect(_) => "connect",
        }
    }

    /// Returns the parameters besides those of the path.
    pub(super) fn parameters(self) -> &'static [Parameter] {
        match self {
            Self::Discover | Self::Get | Self::Connect(_) => &[],
            Self::List | Self::Watch | Self::WatchList => parameter::LIST,
            Self::Create | Self::Replace => parameter::WRITE,
            Self::Patch => parameter::PATCH,
            Self::Delete => parameter::DELETE,
            Self::DeleteCollection => parameter::DELETE_COLLECTION,
        }
    }

    /// Returns the status codes of success.
    pub(super) fn codes(self) -> &'static [&'static str] {
        match self {
            Self::Create => &["200", "201", "202"],
            Self::Replace | Self::Patch => &["200", "201"],
            Self::Delete => &["200", "202"],
            _ => &["200"],
        }
    }

    /// Returns the metadata types that the operation sends or accepts.
    pub(super) fn metadata_types(self) -> &'static [&'static str] {
        match self {
            Self::Delete | Self::DeleteCollection => &["DeleteOptions", "Status"],
            Self::Watch | Self::WatchList => &["WatchEvent"],
            _ => &[],
        }
    }

    /// True if the response can be a stream of events.
    pub(super) fn streams(self) -> bool {
        matches!(self, Self::List | Self::Watch | Self::WatchList)
    }
}

impl Operation {
    /// Returns the schema of the response.
    pub(super) fn answer(&self, dialect: Dialect) -> Value {
        match &self.answer {
            None => dialect.reference(&self.subject),
            Some(Answer::Object(definition)) => dialect.reference(definition),
            Some(Answer::Text | Answer::Anything) => json!({"type": "string"}),
        }
    }

    /// Returns the body of the request.
    pub(super) fn body(&self) -> Body<'_> {
        match self.action {
            Action::Create | Action::Replace => Body::Subject(&self.subject),
            Action::Patch => Body::Patch,
            Action::Delete | Action::DeleteCollection => Body::DeleteOptions,
            _ => Body::None,
        }
    }

    /// Returns the media types of the response.
    pub(super) fn media_types(&self) -> Vec<&'static str> {
        let mut types = match self.answer {
            Some(Answer::Anything) => return vec!["*/*"],
            Some(Answer::Text) => vec!["text/plain"],
            _ => Vec::new(),
        };
        types.extend([
            "application/json",
            "application/yaml",
            "application/vnd.kubernetes.protobuf",
        ]);
        if self.action.streams() {
            types.extend([
                "application/json;stream=watch",
                "application/vnd.kubernetes.protobuf;stream=watch",
            ]);
        }
        types
    }

    /// True if the subject is the scale of an object.
    pub(super) fn is_scale(&self) -> bool {
        self.kind
            .as_ref()
            .is_some_and(|(group, _, kind)| group == "autoscaling" && kind == "Scale")
    }

    /// Returns the extensions that declare the action and the kind of the operation.
    pub(super) fn extensions(&self) -> Vec<(&'static str, Value)> {
        let Some((group, version, kind)) = &self.kind else {
            return Vec::new();
        };
        vec![
            ("x-kubernetes-action", self.action.name().into()),
            (
                "x-kubernetes-group-version-kind",
                json!({"group": group, "version": version, "kind": kind}),
            ),
        ]
    }
}

/// The media types of patches.
pub(super) const PATCH_TYPES: &[&str] = &[
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

/// Returns the description of a status code.
pub(super) fn meaning(code: &str) -> &'static str {
    match code {
        "200" => "OK",
        "201" => "Created",
        "202" => "Accepted",
        _ => "Unauthorized",
    }
}

/// Returns the definition name of delete options.
pub(super) fn delete_options() -> String {
    format!("{META}.DeleteOptions")
}

/// Returns the definition name of a patch.
pub(super) fn patch() -> String {
    format!("{META}.Patch")
}
