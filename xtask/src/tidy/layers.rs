//! The graph of crates, against the declared layers.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::graph::{Graph, Site};
use super::policy::{FILE, Policy};
use crate::metadata::{Crate, Dependency};

/// The findings about dependencies between crates, on packages that only some may use, and about circles.
pub(super) fn check(crates: &[Crate], policy: &Policy) -> Vec<Finding> {
    let mut findings = Vec::new();
    for owner in crates {
        let manifest = format!("{}Cargo.toml", owner.folder);
        let Some(allowed) = policy.crates.get(&owner.name) else {
            let help = format!("add `{} = {{ uses = [...] }}` to [crates]", owner.name);
            findings.push(Finding::new((FILE, 0), format!("{} is not declared", owner.name), help));
            continue;
        };
        for dependency in &owner.dependencies {
            if dependency.path.is_none() {
                findings.extend(foreign(owner, dependency, policy, &manifest));
                continue;
            }
            let in_tests = dependency.kind.as_deref() == Some("dev");
            let may = allowed.uses.contains(&dependency.name) || in_tests && allowed.tests.contains(&dependency.name);
            if !may && dependency.name != owner.name {
                let word = if in_tests {
                    "may not use it in tests"
                } else {
                    "may not know it"
                };
                let fault = format!("dependency {}: {} {word}", dependency.name, owner.name);
                let help = format!("remove it, or change [crates] in {FILE} and ARCHITECTURE.md");
                findings.push(Finding::new((manifest.clone(), 0), fault, help));
            }
        }
    }
    let known: BTreeSet<_> = crates.iter().map(|owner| &owner.name).collect();
    for name in policy.crates.keys().filter(|name| !known.contains(name)) {
        let fault = format!("{name} is not a crate of the workspace");
        findings.push(Finding::new((FILE, 0), fault, "remove it from [crates]"));
    }
    findings.extend(circles(crates));
    findings
}

/// A dependency on a package of a registry that is for other crates.
fn foreign(owner: &Crate, dependency: &Dependency, policy: &Policy, manifest: &str) -> Option<Finding> {
    if dependency.kind.as_deref() == Some("dev") {
        return None;
    }
    let (_, users) = policy
        .foreign
        .iter()
        .find(|(pattern, _)| matches(pattern, &dependency.name))?;
    (!users.contains(&owner.name)).then(|| {
        let users = if users.is_empty() {
            "no crate".to_owned()
        } else {
            format!("only {}", users.join(", "))
        };
        let fault = format!("dependency {}: {users} may use it", dependency.name);
        let help = format!("remove it, or change [foreign] in {FILE}");
        Finding::new((manifest, 0), fault, help)
    })
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

fn circles(crates: &[Crate]) -> Vec<Finding> {
    let mut graph = Graph::default();
    for owner in crates {
        let dependencies = owner.dependencies.iter();
        for dependency in dependencies.filter(|one| one.path.is_some() && one.kind.as_deref() != Some("dev")) {
            let file = format!("{}Cargo.toml", owner.folder);
            graph.add_edge(&owner.name, &dependency.name, Site { file, line: 0 });
        }
    }
    let circles = graph.knots().into_iter().map(|knot| {
        let names: Vec<_> = knot.into_iter().collect();
        let fault = format!("a circle of crates: {}", names.join(", "));
        Finding::new(("Cargo.toml", 0), fault, "cut one of their dependencies")
    });
    circles.collect()
}
