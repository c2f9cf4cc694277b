//! Reference data of Kubernetes beside the workspace, and the kinds to compare with it.

use std::path::{Path, PathBuf};

use planesmith_machinery::meta::{
    ApiGroup, ApiVersions, CreateOptions, DeleteOptions, GetOptions, ListOptions, PatchOptions, Status, UpdateOptions,
    WatchEvent,
};
use planesmith_machinery::scale::v1::Scale;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::value::Struct;

/// Returns a directory of reference data; prints a message and returns `None` if it is missing.
pub(crate) fn folder(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/kubernetes")
        .join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: there is no reference data at ../shared/kubernetes/{name}");
    None
}

/// Returns empty objects of every registered kind and of the types that are not objects, with the names of their
/// fixtures: `<group>.<version>.<Kind>`.
pub(crate) fn zero_objects() -> Vec<(String, Box<dyn Struct>)> {
    let mut scheme = Scheme::new();
    planesmith::register(&mut scheme);
    let mut objects: Vec<(String, Box<dyn Struct>)> = Vec::new();
    for facts in scheme.iter() {
        objects.push((name(&facts.api_version, &facts.kind), facts.zero()));
    }
    let metadata: [Box<dyn Struct>; 10] = [
        Box::new(ApiGroup::default()),
        Box::new(ApiVersions::default()),
        Box::new(CreateOptions::default()),
        Box::new(DeleteOptions::default()),
        Box::new(GetOptions::default()),
        Box::new(ListOptions::default()),
        Box::new(PatchOptions::default()),
        Box::new(Scale::default()),
        Box::new(Status::default()),
        Box::new(UpdateOptions::default()),
    ];
    for message in planesmith::messages::messages().into_iter().chain(metadata) {
        let facts = message.facts().type_meta.expect("a type that says what it is");
        objects.push((name(facts.api_version, facts.kind), message));
    }
    objects.push(("core.v1.WatchEvent".to_owned(), Box::new(WatchEvent::default())));
    objects
}

/// Returns the name of a fixture. Metadata types exist in every group; their fixtures are those of the core group.
fn name(api_version: &str, kind: &str) -> String {
    match api_version.split_once('/') {
        Some(("meta.k8s.io", _)) => format!("core.v1.{kind}"),
        Some((group, version)) => format!("{group}.{version}.{kind}"),
        None => format!("core.v1.{kind}"),
    }
}
