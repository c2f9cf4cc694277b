//! Licences, origins and versions of the packages that the workspace is built with.
//!
//! cargo-deny checks the same and more; this holds where it is not installed.

use std::collections::{BTreeMap, BTreeSet};

use spdx::{Expression, ParseMode};

use super::deny_list::{DenyList, FILE};
use super::finding::Finding;
use crate::metadata::Package;

/// The findings about `packages`.
pub(super) fn check(packages: &[&Package], list: &DenyList) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        findings.extend(licence(package, list));
        findings.extend(origin(package, list));
        findings.extend(banned(package, list));
    }
    findings.extend(duplicates(packages, list));
    let rules = list.bans.deny.iter().chain(&list.bans.skip);
    for rule in rules.filter(|rule| rule.reason.is_empty()) {
        findings.push(finding(
            format!("{} has no reason", rule.package),
            "add `reason = \"...\"`",
        ));
    }
    findings
}

fn finding(fault: String, help: impl Into<String>) -> Finding {
    Finding::new((FILE, 0), fault, help)
}

fn licence(package: &Package, list: &DenyList) -> Option<Finding> {
    let shown = rendered(package);
    let Some(licence) = &package.license else {
        return Some(finding(format!("{shown} names no licence"), "use another package"));
    };
    let Ok(expression) = Expression::parse_mode(licence, ParseMode::LAX) else {
        let fault = format!("the licence of {shown} is not an SPDX expression: {licence}");
        return Some(finding(fault, "use another package"));
    };
    let allowed = |required: &spdx::LicenseReq| list.licenses.allow.contains(&required.to_string());
    (!expression.evaluate(allowed)).then(|| {
        let fault = format!("the licence of {shown} is not allowed: {licence}");
        finding(fault, "use another package, or add the licence to licenses.allow")
    })
}

fn origin(package: &Package, list: &DenyList) -> Option<Finding> {
    // Crates of the workspace have no source.
    let source = package.source.as_deref()?;
    let registry = source.strip_prefix("registry+");
    let known = registry.is_some_and(|registry| list.sources.allow_registry.iter().any(|one| one == registry));
    (!known).then(|| {
        let fault = format!("{} is from {source}", rendered(package));
        finding(fault, "use a package of a registry in sources.allow-registry")
    })
}

fn banned(package: &Package, list: &DenyList) -> Option<Finding> {
    let ban = list.bans.deny.iter().find(|ban| ban.package == package.name)?;
    let fault = format!("{} is refused: {}", rendered(package), ban.reason);
    let help = format!("`cargo tree --workspace --invert {}` shows what uses it", package.name);
    Some(finding(fault, help))
}

/// Second versions that no entry of `skip` tolerates, and entries that are not needed any more.
fn duplicates(packages: &[&Package], list: &DenyList) -> Vec<Finding> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(&package.name).or_default().insert(&package.version);
    }
    let skipped: BTreeSet<(&str, &str)> = list
        .bans
        .skip
        .iter()
        .filter_map(|skip| skip.package.split_once('@'))
        .collect();
    let mut findings = Vec::new();
    for (name, versions) in &versions {
        let counted: Vec<_> = versions
            .iter()
            .filter(|version| !skipped.contains(&(*name, **version)))
            .collect();
        if counted.len() > 1 {
            let fault = format!("{name} is there in {} versions: {}", counted.len(), join(&counted));
            let help = format!(
                "`cargo tree --workspace --invert {name}@VERSION` shows why; use one, or add the older to bans.skip"
            );
            findings.push(finding(fault, help));
        }
    }
    for (name, version) in skipped {
        let present = versions
            .get(name)
            .is_some_and(|versions| versions.len() > 1 && versions.contains(version));
        if !present {
            findings.push(finding(
                format!("{name}@{version} is not a second version any more"),
                "remove it from bans.skip",
            ));
        }
    }
    findings
}

fn join(versions: &[&&str]) -> String {
    versions.iter().map(|version| **version).collect::<Vec<_>>().join(", ")
}

fn rendered(package: &Package) -> String {
    format!("{} {}", package.name, package.version)
}
