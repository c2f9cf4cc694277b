//! One policy, and its two forms in files.

use serde::Deserialize;
use serde_json::Value;

use super::super::{Attributes, Target};
use crate::user::{AUTHENTICATED_GROUP, UserInfo};

const API_VERSION: &str = "abac.authorization.kubernetes.io/v1beta1";
const KIND: &str = "Policy";

/// A permission of a user or a group. `*` matches everything, an empty text nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Policy {
    /// The user; empty for all users of the group.
    pub(super) user: String,
    /// The group; empty if the user need not be in a group.
    pub(super) group: String,
    /// True if the permission is to read.
    pub(super) readonly: bool,
    pub(super) api_group: String,
    pub(super) resource: String,
    pub(super) namespace: String,
    /// The path; a trailing `*` matches any suffix.
    #[serde(rename = "nonResourcePath")]
    pub(super) non_resource_path: String,
}

/// A policy of a file.
#[derive(Debug)]
pub(super) struct ParsedPolicy {
    pub(super) policy: Policy,
    pub(super) is_unversioned: bool,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Versioned {
    spec: Policy,
}

impl Policy {
    /// Reads a line.
    pub(super) fn parse(line: &str) -> Result<ParsedPolicy, String> {
        let document: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let text = |field: &str| document.get(field).and_then(Value::as_str).unwrap_or_default();
        match (text("apiVersion"), text("kind")) {
            ("", _) | (_, "") => {
                let policy: Policy = serde_json::from_value(document).map_err(|error| error.to_string())?;
                Ok(ParsedPolicy {
                    policy: policy.of_old_form(),
                    is_unversioned: true,
                })
            }
            (API_VERSION, KIND) => {
                let Versioned { spec } = serde_json::from_value(document).map_err(|error| error.to_string())?;
                Ok(ParsedPolicy {
                    policy: spec.of_authenticated_users(),
                    is_unversioned: false,
                })
            }
            (version, kind) => Err(format!("no kind {kind:?} is registered for version {version:?}")),
        }
    }

    /// Returns the policy that a line of the old form means: an empty field matches everything.
    fn of_old_form(self) -> Self {
        let everywhere = self.namespace.is_empty();
        let everything = self.resource.is_empty();
        let or_any = |text: String| if text.is_empty() { "*".to_owned() } else { text };
        let is_for_all = self.user.is_empty() && self.group.is_empty();
        let policy = Self {
            group: if is_for_all { "*".to_owned() } else { self.group },
            user: self.user,
            readonly: self.readonly,
            api_group: "*".to_owned(),
            namespace: or_any(self.namespace),
            resource: or_any(self.resource),
            non_resource_path: if everywhere && everything { "*" } else { "" }.to_owned(),
        };
        policy.of_authenticated_users()
    }

    /// Returns the policy with a subject `*` meaning all users with credentials.
    fn of_authenticated_users(self) -> Self {
        if self.user != "*" && self.group != "*" {
            return self;
        }
        Self {
            group: AUTHENTICATED_GROUP.to_owned(),
            ..self
        }
    }

    pub(super) fn is_for(&self, user: &UserInfo) -> bool {
        let is_user = self.user.is_empty() || self.user == "*" || self.user == user.name;
        let is_member = self.group.is_empty() || self.group == "*" || user.is_in(&self.group);
        let has_subject = !(self.user.is_empty() && self.group.is_empty());
        has_subject && is_user && is_member
    }

    pub(super) fn is_in(&self, namespace: &str) -> bool {
        self.namespace == "*" || self.namespace == namespace
    }

    /// True if the policy permits the action to its subject.
    pub(super) fn permits(&self, attributes: &Attributes<'_>) -> bool {
        let reads = matches!(attributes.verb, "get" | "list" | "watch");
        if self.readonly && !reads {
            return false;
        }
        match attributes.target {
            Target::Path(path) => self.has_path(path),
            Target::Resource {
                group,
                resource,
                namespace,
                ..
            } => {
                let is = |pattern: &str, text: &str| pattern == "*" || pattern == text;
                self.is_in(namespace) && is(&self.resource, resource) && is(&self.api_group, group)
            }
        }
    }

    fn has_path(&self, path: &str) -> bool {
        let own = self.non_resource_path.as_str();
        own == "*" || own == path || (own.ends_with('*') && path.starts_with(own.trim_end_matches('*')))
    }

    /// The verbs of the permission.
    pub(super) fn verbs(&self) -> Vec<String> {
        let verbs: &[&str] = if self.readonly {
            &["get", "list", "watch"]
        } else {
            &["*"]
        };
        verbs.iter().map(|verb| (*verb).to_owned()).collect()
    }
}
