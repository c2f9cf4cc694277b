//! Names of definitions, operations and tags.

use crate::generate::model::{Group, Model, PackageModel, Version};
use crate::generate::package::Role;
use crate::generate::source::RustPath;

/// The name prefix of metadata definitions.
pub(super) const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// Returns the definition name of the struct at `path`, whose JSON name is `name`.
pub(super) fn definition(model: &Model, path: &RustPath, name: &str) -> String {
    let steps: Vec<&str> = path.0.iter().map(String::as_str).collect();
    let Some(package) = package_of(model, path) else {
        // Scale is an API type, but all servers need it, so it is declared in machinery.
        return match steps.as_slice() {
            [_, "scale", version, ..] => format!("io.k8s.api.autoscaling.{version}.{name}"),
            _ => format!("{META}.{name}"),
        };
    };
    let module = steps.get(1).copied().unwrap_or_default();
    let group = package.groups.iter().find(|group| group.module == module);
    match (package.package.role, group) {
        // `io.k8s.api.core.v1.Node`, derived from the folders.
        (Role::BuiltIn | Role::Library, _) => {
            let version = steps.get(2).copied().unwrap_or_default();
            // These two groups have their own servers in Kubernetes.
            let home = match module {
                "apiextensions" => "apiextensions-apiserver.pkg.apis",
                "apiregistration" => "kube-aggregator.pkg.apis",
                _ => "api",
            };
            format!("io.k8s.{home}.{module}.{version}.{name}")
        }
        // `com.example.shop.v1.Order`, derived from the group name.
        (Role::Own, Some(group)) => {
            let version = steps.get(2).copied().unwrap_or_default();
            format!("{}.{version}.{name}", reversed(&group.name))
        }
        // A crate with a single group has its versions at the top level.
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

/// Returns `com.example.shop` for `shop.example.com`.
fn reversed(group: &str) -> String {
    let mut labels: Vec<&str> = group.split('.').collect();
    labels.reverse();
    labels.join(".")
}

/// Returns the words of a group without the domain of Kubernetes' own groups: `rbac`, `authorization`.
fn words(group: &Group) -> Vec<&str> {
    match group.name.as_str() {
        "" => vec!["core"],
        name => name.strip_suffix(".k8s.io").unwrap_or(name).split(['.', '-']).collect(),
    }
}

/// Returns the group and version in operation names: `RbacAuthorizationV1`.
pub(super) fn operation_infix(group: &Group, version: &Version) -> String {
    let mut text = group_infix(group);
    text.push_str(&capitalized(&version.name));
    text
}

/// Returns the group in operation names: `RbacAuthorization`.
pub(super) fn group_infix(group: &Group) -> String {
    words(group).into_iter().map(capitalized).collect()
}

/// Returns the tag of a group version: `rbacAuthorization_v1`.
pub(super) fn tag(group: &Group, version: &Version) -> String {
    format!("{}_{}", group_tag(group), version.name)
}

/// Returns the tag of a group: `rbacAuthorization`.
pub(super) fn group_tag(group: &Group) -> String {
    let mut words = words(group).into_iter();
    let first = words.next().unwrap_or_default().to_owned();
    let rest: String = words.map(capitalized).collect();
    first + &rest
}

/// Returns the word with its first letter in upper case.
pub(super) fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
