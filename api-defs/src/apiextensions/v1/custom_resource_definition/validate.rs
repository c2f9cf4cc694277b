//! What is wrong with the declaration of a kind: its names, its scope and its versions.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

use super::{CustomResourceDefinition, CustomResourceDefinitionNames, CustomResourceDefinitionSpec};

/// A declaration as it is.
pub(super) fn check(definition: &CustomResourceDefinition, errors: &mut FieldErrors) {
    let spec = &definition.spec;
    let name = definition.metadata.name.as_str();
    if name != format!("{}.{}", spec.names.plural, spec.group) && names::dns_subdomain(name).is_empty() {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        errors.invalid("metadata.name", name, detail);
    }
    let mut errors = errors.at("spec");
    check_group(&spec.group, &mut errors);
    match spec.scope.as_str() {
        "" => errors.required("scope", ""),
        "Cluster" | "Namespaced" => {}
        other => errors.not_supported("scope", other, &["Cluster", "Namespaced"]),
    }
    check_versions(spec, &mut errors);
    check_names(&spec.names, &mut errors.at("names"));
}

/// What may not change any more.
pub(super) fn check_change(
    definition: &CustomResourceDefinition,
    old: &CustomResourceDefinition,
    errors: &mut FieldErrors,
) {
    let (new, old) = (&definition.spec, &old.spec);
    let mut errors = errors.at("spec");
    for (field, new, old) in [
        ("group", &new.group, &old.group),
        ("names.plural", &new.names.plural, &old.names.plural),
        ("scope", &new.scope, &old.scope),
        ("names.kind", &new.names.kind, &old.names.kind),
    ] {
        if new != old {
            errors.invalid(field, new.as_str(), "field is immutable");
        }
    }
}

fn check_group(group: &str, errors: &mut FieldErrors) {
    if group.is_empty() {
        errors.required("group", "");
        return;
    }
    let problems = names::dns_subdomain(group);
    if !problems.is_empty() {
        errors.invalid("group", group, joined(problems));
    } else if !group.contains('.') {
        errors.invalid("group", group, "should be a domain with at least one dot");
    }
}

fn check_versions(spec: &CustomResourceDefinitionSpec, errors: &mut FieldErrors) {
    if spec.versions.is_empty() {
        errors.required("versions", "must have at least one version");
        return;
    }
    let mut seen = BTreeSet::new();
    let mut repeated = false;
    for (index, version) in spec.versions.iter().enumerate() {
        repeated |= !seen.insert(version.name.as_str());
        let mut errors = errors.at_index("versions", index);
        let problems = names::dns_label_1035(&version.name);
        if !problems.is_empty() {
            errors.invalid("name", version.name.as_str(), joined(problems));
        }
        let schema = version
            .schema
            .as_ref()
            .and_then(|schema| schema.open_apiv3_schema.as_ref());
        match schema {
            None => errors.required("schema.openAPIV3Schema", "schemas are required"),
            Some(schema) if schema.type_ != "object" => {
                let detail = "must be object type at the root";
                match schema.type_.as_str() {
                    "" => errors.required("schema.openAPIV3Schema.type", "must not be empty at the root"),
                    other => errors.invalid("schema.openAPIV3Schema.type", other, detail),
                }
            }
            Some(_) => {}
        }
    }
    let shown: Vec<&str> = spec.versions.iter().map(|version| version.name.as_str()).collect();
    if repeated {
        errors.invalid("versions", shown.join(","), "must contain unique version names");
    }
    if spec.versions.iter().filter(|version| version.storage).count() != 1 {
        let detail = "must have exactly one version marked as storage version";
        errors.invalid("versions", shown.join(","), detail);
    }
}

fn check_names(given: &CustomResourceDefinitionNames, errors: &mut FieldErrors) {
    for (field, name) in [
        ("plural", &given.plural),
        ("singular", &given.singular),
        ("kind", &given.kind),
        ("listKind", &given.list_kind),
    ] {
        if name.is_empty() {
            errors.required(field, "");
            continue;
        }
        let mixed = field.to_lowercase().ends_with("kind");
        let problems = if mixed {
            names::dns_label_1035(&name.to_lowercase())
        } else {
            names::dns_label_1035(name)
        };
        if problems.is_empty() {
            continue;
        }
        let problems = joined(problems);
        let detail = match mixed {
            true => format!("may have mixed case, but should otherwise match: {problems}"),
            false => problems,
        };
        errors.invalid(field, name.as_str(), detail);
    }
    for (field, listed) in [("shortNames", &given.short_names), ("categories", &given.categories)] {
        for (index, name) in listed.iter().enumerate() {
            let problems = names::dns_label_1035(name);
            if !problems.is_empty() {
                errors
                    .at_index(field, index)
                    .invalid("", name.as_str(), joined(problems));
            }
        }
    }
    if !given.kind.is_empty() && given.kind == given.list_kind {
        let detail = "kind and listKind may not be the same";
        errors.invalid("listKind", given.list_kind.as_str(), detail);
    }
}

fn joined(problems: names::Complaints) -> String {
    let problems: Vec<String> = problems.into_iter().map(|problem| problem.to_string()).collect();
    problems.join(",")
}
