//! A request as webhooks and policies see it.

use std::sync::OnceLock;

use planesmith_access::admission::{Attributes, Objects, Operation};
use planesmith_api_defs::admission::v1::AdmissionRequest;
use planesmith_api_defs::authentication::v1::UserInfo;
use planesmith_machinery::group_version::{GroupVersionKind, GroupVersionResource};
use planesmith_machinery::raw::RawExtension;
use planesmith_machinery::{json, meta};
use serde_json::Value;

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

    /// Returns the request as a webhook of `target` sees it, without an ID and objects.
    pub(crate) fn review(&self, target: &Target) -> AdmissionRequest {
        let Self {
            attributes,
            target: own,
            ..
        } = self;
        AdmissionRequest {
            kind: kind(&target.kind),
            resource: resource(&target.resource),
            sub_resource: attributes.subresource.to_owned(),
            request_kind: Some(kind(&own.kind)),
            request_resource: Some(resource(&own.resource)),
            request_sub_resource: attributes.subresource.to_owned(),
            name: attributes.name.to_owned(),
            namespace: attributes.namespace.to_owned(),
            operation: attributes.operation.as_str().to_owned(),
            user_info: self.user(),
            dry_run: Some(attributes.dry_run),
            options: self.options(),
            ..AdmissionRequest::default()
        }
    }

    /// Returns the members of an AdmissionRequest that do not depend on the objects, as a policy of `target` sees them: the variable
    /// `request` of expressions.
    #[must_use]
    pub fn document(&self, target: &Target) -> Value {
        let mut document = json::to_value(&self.review(target));
        if let Value::Object(members) = &mut document {
            for name in ["uid", "object", "oldObject"] {
                members.remove(name);
            }
        }
        document
    }

    /// Returns the options of the request. Those of a patch count as those of what the patch does.
    fn options(&self) -> RawExtension {
        let kind = match self.attributes.operation {
            Operation::Create => "CreateOptions",
            Operation::Update => "UpdateOptions",
            Operation::Delete => "DeleteOptions",
            Operation::Connect => return RawExtension::default(),
        };
        let Some(options) = self.attributes.options else {
            return RawExtension::default();
        };
        let mut document = json::to_value(options);
        if let Value::Object(members) = &mut document {
            members.remove("force");
            members.insert("kind".to_owned(), Value::from(kind));
            members.insert("apiVersion".to_owned(), Value::from("meta.k8s.io/v1"));
        }
        let mut written = Vec::new();
        json::encode_ordered(&document, options.facts(), &mut written);
        RawExtension::from_compact(written)
    }

    fn user(&self) -> UserInfo {
        let user = self.attributes.user;
        UserInfo {
            username: user.name.clone(),
            uid: user.uid.clone(),
            groups: user.groups.clone(),
            extra: user.extra.clone(),
        }
    }
}

fn kind(kind: &GroupVersionKind) -> meta::GroupVersionKind {
    meta::GroupVersionKind {
        group: kind.group.to_string(),
        version: kind.version.to_string(),
        kind: kind.kind.to_string(),
    }
}

fn resource(resource: &GroupVersionResource) -> meta::GroupVersionResource {
    meta::GroupVersionResource {
        group: resource.group.to_string(),
        version: resource.version.to_string(),
        resource: resource.resource.to_string(),
    }
}
