//! The version in which a webhook or a policy sees a request.

use planesmith_access::admission::{Attributes, Objects};
use planesmith_machinery::facts::StructFacts;
use planesmith_machinery::group_version::{GroupVersion, GroupVersionKind, GroupVersionResource};
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::{ResourceFacts, SubresourceKind};
use planesmith_machinery::scale::v1::Scale;
use planesmith_machinery::value::Struct as _;

/// The resource and the kind under which a webhook or a policy sees a request, and the form of its objects.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The resource of the path, without a subresource.
    pub resource: GroupVersionResource,
    /// The kind of the objects.
    pub kind: GroupVersionKind,
    pub(crate) content: Content,
}

/// The form of a request's objects.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    /// Objects of the resource's kind, in this version.
    Version(ResourceFacts),
    /// The Scale of an object of the resource's kind.
    Scale,
    /// An object of this kind that was posted to a subresource.
    Posted(ResourceFacts),
    /// The options of a connection.
    Options,
}

impl Target {
    /// Returns the target for objects of the kind `facts`, in their version.
    #[must_use]
    pub fn of_version(facts: &ResourceFacts) -> Self {
        Self {
            resource: resource_of(facts),
            kind: kind_of(facts),
            content: Content::Version(facts.clone()),
        }
    }

    /// Returns the target for the Scale of objects of the kind `facts`.
    pub(crate) fn of_scale(facts: &ResourceFacts) -> Self {
        Self {
            resource: resource_of(facts),
            kind: GroupVersionKind::new("autoscaling", "v1", "Scale"),
            content: Content::Scale,
        }
    }

    /// Returns the target of a request in its own version.
    #[must_use]
    pub fn of_request(attributes: &Attributes<'_>, objects: &Objects<'_>) -> Self {
        let facts = attributes.resource;
        let as_sent = |kind, content| Self {
            resource: resource_of(facts),
            kind,
            content,
        };
        if let Some(options) = attributes.connection {
            let kind = options.read(|options| {
                let meta = options.type_meta();
                let meta = meta.map_or(("", ""), |meta| (meta.api_version, meta.kind));
                parse_kind(meta.0, meta.1)
            });
            return as_sent(kind, Content::Options);
        }
        if !attributes.subresource.is_empty()
            && matches!(
                facts
                    .subresource(attributes.subresource)
                    .map(|subresource| &subresource.kind),
                Some(SubresourceKind::Scale(_))
            )
        {
            return Self::of_scale(facts);
        }
        let object: Option<&dyn Object> = objects.new.as_deref().or(objects.old);
        match object.map(Object::resource) {
            Some(kind) if !kind.is_version_of(facts) => as_sent(kind_of(kind), Content::Posted(kind.clone())),
            _ => Self::of_version(facts),
        }
    }
}

impl Content {
    /// Returns the type of the objects, whose fields are written in their order; `None` for objects that are written with sorted
    /// members. The options are those of `attributes`.
    pub(crate) fn struct_facts(&self, attributes: &Attributes<'_>) -> Option<&'static StructFacts> {
        match self {
            Self::Version(kind) | Self::Posted(kind) => kind.custom.is_none().then(|| kind.fields()),
            Self::Scale => Some(Scale::default().facts()),
            Self::Options => attributes
                .connection
                .map(|options| options.read(|options| options.facts())),
        }
    }
}

fn resource_of(facts: &ResourceFacts) -> GroupVersionResource {
    GroupVersionResource::new(facts.group.clone(), facts.version.clone(), facts.plural.clone())
}

fn kind_of(facts: &ResourceFacts) -> GroupVersionKind {
    GroupVersionKind::new(facts.group.clone(), facts.version.clone(), facts.kind.clone())
}

fn parse_kind(api_version: &str, kind: &str) -> GroupVersionKind {
    let version = GroupVersion::parse(api_version).unwrap_or_default();
    version.with_kind(kind.to_owned())
}
