//! What definitions, operations and tags are called.

use crate::generate::model::{Group, Model, PackageModel, Version};
use crate::generate::package::Role;
use crate::generate::source::RustPath;

/// Definitions of the metadata package.
pub(super) const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// The name of the definition of the struct at `path`, which JSON calls `name`.
pub(super) fn definition(model: &Model, path: &RustPath, name: &str) -> String {
    let steps: Vec<&str> = path.0.iter().map(String::as_str).collect();
    let Some(package) = package_of(model, path) else {
        // One type of a group is needed by every server.
        return match steps.as_slice() {
            [_, "scale", version, ..] => format!("io.k8s.api.autoscaling.{version}.{name}"),
            _ => format!("{META}.{name}"),
        };
    };
    let module = steps.get(1).copied().unwrap_or_default();
    let group = package.groups.iter().find(|group| group.module == module);
    match (package.package.role, group) {
        // `io.k8s.api.core.v1.Node`, by the folders.
        (Role::BuiltIn | Role::Library, _) => {
            let version = steps.get(2).copied().unwrap_or_default();
            // Two groups come with servers of their own.
            let home = match module {
                "apiextensions" => "apiextensions-apiserver.pkg.apis",
                "apiregistration" => "kube-aggregator.pkg.apis",
                _ => "api",
            };
            format!("io.k8s.{home}.{module}.{version}.{name}")
        }
        // `com.example.shop.v1.Order`, by the group's name.
        (Role::Own, Some(group)) => {
            let version = steps.get(2).copied().unwrap_or_default();
            format!("{}.{version}.{name}", reversed(&group.name))
        }
        // A crate of one group has its versions at the top.
        (Role::Own, None) => {
            let group = package.groups.first().map_or("", |group| &group.name);
            format!("{}.{module}.{name}", reversed(group))
        }
    }
}

fn package_of<'a>(model: &'a Model, path: &RustPath) -> Option<&'a PackageModel> {
    let is_it = |package: &&PackageModel| package.package.crate_name() == path.crate_name();
    model.packages.iter().find(is_it)
}

/// `com.example.shop` for `shop.example.com`.
fn reversed(group: &str) -> String {
    let mut labels: Vec<&str> = group.split('.').collect();
    labels.reverse();
    labels.join(".")
}

/// The words of a group: `rbac`, `authorization`; the domain of Kubernetes' own groups is left out.
fn words(group: &Group) -> Vec<&str> {
    match group.name.as_str() {
        "" => vec!["core"],
        name => name.strip_suffix(".k8s.io").unwrap_or(name).split(['.', '-']).collect(),
    }
}

/// The group and version inside operation names: `RbacAuthorizationV1`.
pub(super) fn operation_infix(group: &Group, version: &Version) -> String {
    let mut text = group_infix(group);
    text.push_str(&capitalized(&version.name));
    text
}

/// The group inside operation names: `RbacAuthorization`.
pub(super) fn group_infix(group: &Group) -> String {
    words(group).into_iter().map(capitalized).collect()
}

/// The tag of a group version: `rbacAuthorization_v1`.
pub(super) fn tag(group: &Group, version: &Version) -> String {
    format!("{}_{}", group_tag(group), version.name)
}

/// The tag of a group: `rbacAuthorization`.
pub(super) fn group_tag(group: &Group) -> String {
    let mut words = words(group).into_iter();
    let first = words.next().unwrap_or_default().to_owned();
    let rest: String = words.map(capitalized).collect();
    first + &rest
}

/// The word with its first letter in upper case.
pub(super) fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
