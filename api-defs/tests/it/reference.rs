//! Facts about Kubernetes beside the workspace, and the kinds to compare with them.

use std::path::{Path, PathBuf};

use planesmith_api_defs::autoscaling::v1::Scale;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::value::Struct;

/// A folder of reference data; `None`, with a word, when it is not there.
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

/// Zero objects of every registered kind, and of those that are served below others only, with the name of their
/// fixture: `<group>.<version>.<Kind>`.
pub(crate) fn zero_objects() -> Vec<(String, Box<dyn Struct>)> {
    let mut scheme = Scheme::new();
    planesmith::register(&mut scheme);
    let mut objects: Vec<(String, Box<dyn Struct>)> = Vec::new();
    for facts in scheme.iter() {
        let group = if facts.group.is_empty() { "core" } else { facts.group };
        objects.push((format!("{group}.{}.{}", facts.version, facts.kind), facts.zero()));
    }
    objects.push(("autoscaling.v1.Scale".to_owned(), Box::new(Scale::default())));
    objects
}
