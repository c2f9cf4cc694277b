//! The resources of one version.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use planesmith_machinery::Struct;
use planesmith_machinery::meta::{ApiResource, ApiResourceList};
use planesmith_machinery::resource::Scope;
use ring::digest::{SHA256, digest};

use super::Document;
use super::served::{ServedKind, ServedResource, ServedSubresource};
use crate::request::Verb;

/// Resources of a version of the core group, whose document has no API version.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "APIResourceList", type_meta("", "APIResourceList"))]
struct CoreResourceList {
    /// The version.
    #[field(keep, required, proto = 1)]
    group_version: String,
    /// The resources, subresources among them.
    #[field(keep, required, proto = 2, list_type = atomic)]
    resources: Vec<ApiResource>,
}

/// The document at `/api/VERSION` or `/apis/GROUP/VERSION`; `served` is sorted by name.
pub(crate) fn resource_list(group: &str, version: &str, served: &[&ServedResource]) -> Document {
    let mut resources = Vec::new();
    for resource in served {
        resources.push(entry(resource));
        resources.extend(
            resource
                .subresources
                .iter()
                .map(|subresource| subresource_entry(resource, subresource)),
        );
    }
    if group.is_empty() {
        return Document::new(CoreResourceList {
            group_version: version.to_owned(),
            resources,
        });
    }
    Document::new(ApiResourceList {
        group_version: format!("{group}/{version}"),
        resources,
    })
}

fn entry(resource: &ServedResource) -> ApiResource {
    ApiResource {
        name: resource.plural.to_string(),
        singular_name: resource.singular.to_string(),
        namespaced: resource.scope == Scope::Namespaced,
        kind: resource.kind.to_string(),
        verbs: Some(names(&resource.verbs)),
        short_names: resource.short_names.iter().map(ToString::to_string).collect(),
        categories: resource.categories.iter().map(ToString::to_string).collect(),
        storage_version_hash: resource
            .stored_as
            .as_ref()
            .map(storage_version_hash)
            .unwrap_or_default(),
        ..ApiResource::default()
    }
}

fn subresource_entry(resource: &ServedResource, subresource: &ServedSubresource) -> ApiResource {
    let kind = subresource.kind.as_ref();
    ApiResource {
        name: format!("{}/{}", resource.plural, subresource.name),
        namespaced: resource.scope == Scope::Namespaced,
        group: kind.map(|kind| kind.group.to_string()).unwrap_or_default(),
        version: kind.map(|kind| kind.version.to_string()).unwrap_or_default(),
        kind: kind.map_or(&resource.kind, |kind| &kind.kind).to_string(),
        verbs: Some(names(&subresource.verbs)),
        ..ApiResource::default()
    }
}

/// Verbs as texts.
pub(super) fn names(verbs: &[Verb]) -> Vec<String> {
    verbs.iter().map(Verb::to_string).collect()
}

/// A hash that tells clients if the stored version has changed.
fn storage_version_hash(stored: &ServedKind) -> String {
    let name = format!("{}/{}/{}", stored.group, stored.version, stored.kind);
    STANDARD.encode(&digest(&SHA256, name.as_bytes()).as_ref()[..8])
}
