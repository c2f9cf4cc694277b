//! A request as webhooks and policies see it.

use std::sync::OnceLock;

use planesmith_access::admission::{Attributes, Objects, Operation};
use planesmith_machinery::group_version::{GroupVersionKind, GroupVersionResource};
use planesmith_machinery::json;
use serde_json::{Map, Value, json};

use crate::GROUP;
use crate::equivalents::Equivalents;
use crate::target::Target;

/// The kinds whose objects configure admission: no webhook and no policy reviews them, so that a wrong one can always
/// be removed.
const CONFIGURATIONS: [&str; 6] = [
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
];

/// A request as webhooks and policies see it.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The attributes.
    pub attributes: &'a Attributes<'a>,
    /// The resource and the kind of the request itself.
    pub target: Target,
    /// The same in the other versions of the resource, once they are needed.
    others: OnceLock<Vec<Target>>,
}

impl<'a> Request<'a> {
    /// Returns the request with `attributes` about `objects`.
    #[must_use]
    pub fn new(attributes: &'a Attributes<'a>, objects: &Objects<'_>) -> Self {
        Self {
            attributes,
            target: Target::of_request(attributes, objects),
            others: OnceLock::new(),
        }
    }

    /// Returns the targets of the request in the other versions of its resource.
    pub(crate) fn others(&self, equivalents: &Equivalents) -> &[Target] {
        self.others
            .get_or_init(|| equivalents.of(self.attributes, &self.target))
    }

    /// True if the object of the request configures admission, so that neither webhooks nor policies apply.
    #[must_use]
    pub fn is_exempt(attributes: &Attributes<'_>) -> bool {
        attributes.resource.group == GROUP && CONFIGURATIONS.contains(&&*attributes.resource.kind)
    }

    /// Returns the members of an AdmissionRequest that do not depend on the objects, as a webhook or policy of `target` sees them: the
    /// variable `request` of expressions, and the base of a review.
    #[must_use]
    pub fn document(&self, target: &Target) -> Map<String, Value> {
        let Self {
            attributes,
            target: own,
            ..
        } = self;
        let mut members = Map::new();
        let mut add = |name: &str, value: Value| {
            members.insert(name.to_owned(), value);
        };
        add("kind", kind(&target.kind));
        add("resource", resource(&target.resource));
        add("requestKind", kind(&own.kind));
        add("requestResource", resource(&own.resource));
        for (name, text) in [
            ("subResource", attributes.subresource),
            ("requestSubResource", attributes.subresource),
            ("name", attributes.name),
            ("namespace", attributes.namespace),
        ] {
            if !text.is_empty() {
                add(name, Value::from(text));
            }
        }
        add("operation", Value::from(attributes.operation.as_str()));
        add("userInfo", self.user());
        add("dryRun", Value::Bool(attributes.dry_run));
        add("options", self.options());
        members
    }

    /// Returns the options of the request. Those of a patch count as those of what the patch does.
    fn options(&self) -> Value {
        let kind = match self.attributes.operation {
            Operation::Create => "CreateOptions",
            Operation::Update => "UpdateOptions",
            Operation::Delete => "DeleteOptions",
            Operation::Connect => return Value::Null,
        };
        let mut options = self.attributes.options.map_or(Value::Null, json::to_value);
        if let Value::Object(members) = &mut options {
            members.remove("force");
            members.insert("kind".to_owned(), Value::from(kind));
            members.insert("apiVersion".to_owned(), Value::from("meta.k8s.io/v1"));
        }
        options
    }

    fn user(&self) -> Value {
        let user = self.attributes.user;
        let mut members = Map::new();
        for (name, text) in [("username", &user.name), ("uid", &user.uid)] {
            if !text.is_empty() {
                members.insert(name.to_owned(), Value::from(text.as_str()));
            }
        }
        if !user.groups.is_empty() {
            members.insert("groups".to_owned(), Value::from(user.groups.clone()));
        }
        if !user.extra.is_empty() {
            members.insert("extra".to_owned(), json!(user.extra));
        }
        Value::Object(members)
    }
}

fn kind(kind: &GroupVersionKind) -> Value {
    json!({"group": kind.group, "version": kind.version, "kind": kind.kind})
}

fn resource(resource: &GroupVersionResource) -> Value {
    json!({"group": resource.group, "version": resource.version, "resource": resource.resource})
}
