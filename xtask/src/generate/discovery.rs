//! Discovery documents: the resources of a group version and their verbs.
//!
//! The server computes its own from the served routes; these files show in reviews how a definition affects clients.

use std::path::PathBuf;

use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use planesmith_codegen_core::names::version_parts;
use planesmith_codegen_core::resource::{Subresource, SubresourceKind};
use planesmith_machinery::json;
use planesmith_machinery::meta::{ApiGroup, ApiGroupList, ApiResource, ApiResourceList, GroupVersionForDiscovery};
use planesmith_machinery::value::Struct;
use ring::digest::{SHA256, digest};
use serde_json::Value;

use super::files::Files;
use super::model::{Group, Kind, Model, PackageModel, Version};
use super::package::Role;

/// Renders the documents of all crates.
pub(super) fn render(model: &Model, files: &mut Files) -> Result<()> {
    for package in &model.packages {
        let folder = folder(package);
        files.own(folder.clone());
        if package.groups.is_empty() {
            continue;
        }
        let named = package
            .groups
            .iter()
            .filter(|group| !group.name.is_empty() && is_served(group));
        let groups = ApiGroupList {
            groups: named.map(group_entry).collect(),
        };
        let members = groups.groups.len();
        let members =
            (0..members).flat_map(|group| ["kind", "apiVersion"].map(|name| format!("/groups/{group}/{name}")));
        files.add(folder.join("apis.json"), render_without(&groups, members))?;
        for group in package.groups.iter().filter(|group| is_served(group)) {
            if !group.name.is_empty() {
                files.add(
                    folder.join(format!("apis__{}.json", group.name)),
                    render_without(&group_entry(group), []),
                )?;
            }
            for version in group.versions.iter().filter(|version| version.is_served()) {
                let list = resource_list(model, group, version);
                let name = match group.name.as_str() {
                    "" => format!("api__{}.json", version.name),
                    name => format!("apis__{name}__{}.json", version.name),
                };
                let without = group.name.is_empty().then(|| "/apiVersion".to_owned());
                files.add(folder.join(name), render_without(&list, without))?;
            }
        }
    }
    Ok(())
}

fn is_served(group: &Group) -> bool {
    group.versions.iter().any(Version::is_served)
}

fn folder(package: &PackageModel) -> PathBuf {
    match package.package.role {
        Role::Library | Role::BuiltIn => PathBuf::from("generated/discovery"),
        Role::Own => package.package.folder.join("generated/discovery"),
    }
}

/// Returns the object as indented JSON, without members that kube-apiserver omits for compatibility with its earliest clients:
/// the type of groups inside a list, and the version of the core group's list.
fn render_without(object: &dyn Struct, without: impl IntoIterator<Item = String>) -> String {
    let mut document = json::to_value(object);
    for pointer in without {
        if let Some((parent, name)) = pointer.rsplit_once('/')
            && let Some(parent) = document.pointer_mut(parent).and_then(Value::as_object_mut)
        {
            parent.remove(name);
        }
    }
    format!("{document:#}\n")
}

fn group_entry(group: &Group) -> ApiGroup {
    let served = group.versions.iter().filter(|version| version.is_served());
    let mut versions: Vec<GroupVersionForDiscovery> = served
        .map(|version| GroupVersionForDiscovery {
            group_version: format!("{}/{}", group.name, version.name),
            version: version.name.clone(),
        })
        .collect();
    versions.sort_by_key(|version| std::cmp::Reverse(version_parts(&version.version)));
    let preferred_version = versions.first().cloned().unwrap_or_default();
    ApiGroup {
        name: group.name.clone(),
        versions,
        preferred_version,
        ..ApiGroup::default()
    }
}

fn resource_list(model: &Model, group: &Group, version: &Version) -> ApiResourceList {
    let mut kinds: Vec<&Kind> = version.kinds.iter().filter(|kind| kind.resource.served).collect();
    kinds.sort_by_key(|kind| &kind.resource.plural);
    let mut resources = Vec::new();
    for kind in kinds {
        resources.push(entry(model, kind));
        let mut below: Vec<&Subresource> = kind.resource.subresources.iter().collect();
        below.sort_by_key(|subresource| &subresource.name);
        resources.extend(below.into_iter().map(|below| subresource_entry(kind, below)));
    }
    let group_version = match group.name.as_str() {
        "" => version.name.clone(),
        name => format!("{name}/{}", version.name),
    };
    ApiResourceList {
        group_version,
        resources,
    }
}

fn entry(model: &Model, kind: &Kind) -> ApiResource {
    let resource = &kind.resource;
    let mut verbs = vec![
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
        "watch",
    ];
    verbs.retain(|verb| *verb != "deletecollection" || !resource.behavior.no_delete_collection);
    verbs.retain(|verb| *verb == "create" || !resource.behavior.create_only);
    verbs.retain(|verb| matches!(*verb, "get" | "list") || !resource.behavior.read_only);
    ApiResource {
        name: resource.plural.clone(),
        singular_name: resource.singular.clone(),
        namespaced: resource.namespaced,
        kind: resource.kind.clone(),
        verbs: Some(owned(&verbs)),
        short_names: resource.short_names.clone(),
        categories: resource.categories.clone(),
        storage_version_hash: match resource.behavior.create_only || resource.behavior.read_only {
            true => String::new(),
            false => storage_version_hash(model, kind),
        },
        ..ApiResource::default()
    }
}

fn subresource_entry(kind: &Kind, below: &Subresource) -> ApiResource {
    let (group, version, of_kind) = match below.kind {
        SubresourceKind::Scale(_) => ("autoscaling", "v1", "Scale"),
        SubresourceKind::Status | SubresourceKind::Other => posted(kind, below),
    };
    ApiResource {
        name: format!("{}/{}", kind.resource.plural, below.name),
        namespaced: kind.resource.namespaced,
        group: group.to_owned(),
        version: version.to_owned(),
        kind: of_kind.to_owned(),
        verbs: Some(owned(subresource_verbs(below))),
        ..ApiResource::default()
    }
}

/// Returns group, version and kind of a subresource's body, if they differ from those of the object. Custom handlers accept
/// bodies or options of other kinds.
pub(super) fn posted<'k>(kind: &'k Kind, below: &Subresource) -> (&'static str, &'static str, &'k str) {
    let own = kind.resource.kind.as_str();
    match (&below.kind, own, below.name.as_str()) {
        (SubresourceKind::Other, "Pod", "attach") => ("", "", "PodAttachOptions"),
        (SubresourceKind::Other, "Pod", "binding") => ("", "", "Binding"),
        (SubresourceKind::Other, "Pod", "eviction") => ("policy", "v1", "Eviction"),
        (SubresourceKind::Other, "Pod", "exec") => ("", "", "PodExecOptions"),
        (SubresourceKind::Other, "Pod", "portforward") => ("", "", "PodPortForwardOptions"),
        (SubresourceKind::Other, "Pod", "proxy") => ("", "", "PodProxyOptions"),
        (SubresourceKind::Other, "Node", "proxy") => ("", "", "NodeProxyOptions"),
        (SubresourceKind::Other, "Service", "proxy") => ("", "", "ServiceProxyOptions"),
        (SubresourceKind::Other, "ServiceAccount", "token") => ("authentication.k8s.io", "v1", "TokenRequest"),
        _ => ("", "", own),
    }
}

/// Returns the verbs of a subresource.
pub(super) fn subresource_verbs(below: &Subresource) -> &'static [&'static str] {
    match (&below.kind, below.name.as_str()) {
        // Custom handlers support one verb each.
        (SubresourceKind::Other, "finalize") => &["update"],
        (SubresourceKind::Other, "binding" | "eviction" | "token") => &["create"],
        (SubresourceKind::Other, "log") => &["get"],
        (SubresourceKind::Other, "attach" | "exec" | "portforward") => &["create", "get"],
        (SubresourceKind::Other, "proxy") => &["create", "delete", "get", "patch", "update"],
        _ => &["get", "patch", "update"],
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Returns a hash of the group, storage version and kind.
fn storage_version_hash(model: &Model, kind: &Kind) -> String {
    let stored = kind
        .hub
        .as_ref()
        .and_then(|hub| model.kinds().find(|(_, _, other)| other.path == *hub));
    let stored = stored.map_or(kind, |(_, _, stored)| stored);
    let resource = &stored.resource;
    let name = format!("{}/{}/{}", resource.group, resource.hashed_version, resource.kind);
    STANDARD.encode(&digest(&SHA256, name.as_bytes()).as_ref()[..8])
}
