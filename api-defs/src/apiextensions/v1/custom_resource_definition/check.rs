//! Validation of CustomResourceDefinitions. Errors name the field paths of kube-apiserver's internal version.

mod approval;
mod conversion;
mod defaults;
mod expression;
mod lists;
mod names;
mod schema;
mod selectable;
mod tolerance;
mod version;

pub use approval::{Approval, ApprovalState};

use std::collections::BTreeSet;

use planesmith_machinery::field_error::{FieldErrors, Json};
use planesmith_machinery::names::dns_subdomain;

use self::tolerance::Tolerance;
use super::layout::Layout;
use super::{CustomResourceDefinition, CustomResourceDefinitionSpec};

/// Checks a new declaration.
pub(super) fn check(definition: &CustomResourceDefinition, errors: &mut FieldErrors) {
    let spec = &definition.spec;
    check_name(definition, errors);
    check_spec(spec, &Tolerance::NONE, &mut errors.at("spec"));
    check_rest(definition, None, errors);
}

/// Checks that `name` and `generateName` are plural.group, which a generated name never fulfils.
fn check_name(definition: &CustomResourceDefinition, errors: &mut FieldErrors) {
    let (spec, meta) = (&definition.spec, &definition.metadata);
    let wanted = format!("{}.{}", spec.names.plural, spec.group);
    for (field, name) in [("generateName", &meta.generate_name), ("name", &meta.name)] {
        if !name.is_empty() && *name != wanted {
            errors
                .at("metadata")
                .invalid(field, name, "must be spec.names.plural+\".\"+spec.group");
        }
    }
}

/// Checks an update. Violations that the old declaration already has are tolerated.
pub(super) fn check_change(new: &CustomResourceDefinition, old: &CustomResourceDefinition, errors: &mut FieldErrors) {
    let tolerance = Tolerance::of(new, old);
    check_spec(&new.spec, &tolerance, &mut errors.at("spec"));
    let (spec, before) = (&new.spec, &old.spec);
    let names = [
        ("spec.scope", &spec.scope, &before.scope, tolerance.immutable_names),
        (
            "spec.names.kind",
            &spec.names.kind,
            &before.names.kind,
            tolerance.immutable_names,
        ),
        ("spec.group", &spec.group, &before.group, true),
        ("spec.names.plural", &spec.names.plural, &before.names.plural, true),
    ];
    for (field, new, old, is_fixed) in names {
        if is_fixed && new != old {
            errors.invalid(field, new, "field is immutable");
        }
    }
    check_rest(new, Some(old), errors);
}

/// Checks an update of the status.
pub(super) fn check_status(definition: &CustomResourceDefinition, errors: &mut FieldErrors) {
    names::check(
        &definition.status.accepted_names,
        &mut errors.at("status.acceptedNames"),
    );
}

/// Checks everything except the metadata and the spec.
fn check_rest(new: &CustomResourceDefinition, old: Option<&CustomResourceDefinition>, errors: &mut FieldErrors) {
    check_status(new, errors);
    check_stored_versions(new, &mut errors.at("status"));
    approval::check(new, old, errors);
    if new.spec.preserve_unknown_fields && !old.is_some_and(|old| old.spec.preserve_unknown_fields) {
        let detail =
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        errors.invalid("spec.preserveUnknownFields", true, detail);
    }
}

fn check_stored_versions(definition: &CustomResourceDefinition, errors: &mut FieldErrors) {
    let stored = &definition.status.stored_versions;
    if stored.is_empty() {
        errors.invalid("storedVersions", Json("null"), "must have at least one stored version");
        return;
    }
    let versions = &definition.spec.versions;
    // Each entry accounts for one version only, even if several versions have the same name.
    let mut left: BTreeSet<&str> = stored.iter().map(String::as_str).collect();
    for version in versions {
        if !left.remove(version.name.as_str()) && version.storage {
            let detail = format!("must have the storage version {}", version.name);
            errors.invalid("storedVersions", &stored[..], detail);
        }
    }
    for (index, name) in stored.iter().enumerate() {
        if !versions.iter().any(|version| version.name == *name) {
            let detail = format!(
                "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until \
                 a storage migration ensures no data remains persisted in {name} and removes {name} from \
                 status.storedVersions"
            );
            errors.at_index("storedVersions", index).invalid("", name, detail);
        }
    }
}

fn check_spec(spec: &CustomResourceDefinitionSpec, tolerance: &Tolerance, errors: &mut FieldErrors) {
    let layout = Layout::from_spec(spec);
    check_group(&spec.group, errors);
    match spec.scope.as_str() {
        "" => errors.required("scope", ""),
        "Cluster" | "Namespaced" => {}
        other => errors.not_supported("scope", other, &["Cluster", "Namespaced"]),
    }
    let tolerance = &tolerance.for_spec(spec);
    check_that_schemas_are_there(&layout, tolerance, errors);
    if spec.preserve_unknown_fields && spec.any_schema(|schema| schema.default.is_some()) {
        let detail = "must be false in order to use defaults in the schema";
        errors.invalid("preserveUnknownFields", true, detail);
    }
    check_versions(&layout, tolerance, errors);
    names::check_required(&spec.names, &mut errors.at("names"));
    names::check(&spec.names, &mut errors.at("names"));
    check_what_versions_share(&layout, tolerance, errors);
    conversion::check(spec, tolerance, errors);
}

fn check_group(group: &str, errors: &mut FieldErrors) {
    if group.is_empty() {
        errors.required("group", "");
        return;
    }
    let problems = dns_subdomain(group);
    if !problems.is_empty() {
        errors.invalid("group", group, problems.join(","));
    } else if !group.contains('.') {
        errors.invalid("group", group, "should be a domain with at least one dot");
    }
}

fn check_that_schemas_are_there(layout: &Layout<'_>, tolerance: &Tolerance, errors: &mut FieldErrors) {
    if layout.common_schema().is_some() {
        return;
    }
    for (index, version) in layout.spec.versions.iter().enumerate() {
        let has_one = layout
            .schema_of(version)
            .is_some_and(|schema| schema.open_apiv3_schema.is_some());
        let detail = match (tolerance.schemas_required, layout.spec.preserve_unknown_fields) {
            (true, _) => "",
            (false, false) if version.served => "because otherwise all fields are pruned",
            (false, _) => continue,
        };
        if !has_one {
            errors
                .at_index("versions", index)
                .required("schema.openAPIV3Schema", detail);
        }
    }
}

fn check_versions(layout: &Layout<'_>, tolerance: &Tolerance, errors: &mut FieldErrors) {
    let versions = &layout.spec.versions;
    for (index, version) in versions.iter().enumerate() {
        version::check(layout, version, tolerance, &mut errors.at_index("versions", index));
    }
    let names: BTreeSet<&str> = versions.iter().map(|version| version.name.as_str()).collect();
    let stored = versions.iter().filter(|version| version.storage).count();
    let problems = [
        (names.len() != versions.len(), "must contain unique version names"),
        (stored != 1, "must have exactly one version marked as storage version"),
    ];
    for (_, detail) in problems.into_iter().filter(|(is_wrong, _)| *is_wrong) {
        errors.invalid("versions", Json(&layout.rendered_versions()), detail);
    }
    // kube-apiserver's internal type has a second field for the first version.
    if let Some(first) = versions.first() {
        version::check_name("version", &first.name, errors);
    }
}

/// Checks the parts that all versions share, once for all of them.
fn check_what_versions_share(layout: &Layout<'_>, tolerance: &Tolerance, errors: &mut FieldErrors) {
    let has_status = layout.spec.versions.iter().any(|version| {
        let subresources = version.subresources.as_ref();
        subresources.is_some_and(|subresources| subresources.status.is_some())
    });
    if let Some(schema) = layout.schema {
        let first = layout.spec.versions.first().map_or("", |first| first.name.as_str());
        let tolerance = &tolerance.for_version(first);
        schema::check(schema, has_status, tolerance, &mut errors.at("validation"));
    }
    if let Some(subresources) = layout.subresources {
        version::check_subresources(subresources, &mut errors.at("subresources"));
    }
    for (index, column) in layout.columns.iter().enumerate() {
        version::check_column(column, &mut errors.at_index("additionalPrinterColumns", index));
    }
    if layout.selectable.is_empty() {
        return;
    }
    match layout.schema {
        None => errors.invalid(
            "selectableFields",
            "",
            "may only be set when validations.schema is included",
        ),
        Some(_) => {
            let lets_many = tolerance.lets_many_fields("");
            selectable::check(layout.selectable, layout.common_schema(), lets_many, errors);
        }
    }
}

#[cfg(test)]
mod tests;
