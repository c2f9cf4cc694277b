//! Validation of the names of a kind and its resource.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names::dns_label_1035;

use crate::apiextensions::v1::CustomResourceDefinitionNames;

/// Reports missing names.
pub(super) fn check_required(names: &CustomResourceDefinitionNames, errors: &mut FieldErrors) {
    for (field, name) in names.all() {
        if name.is_empty() {
            errors.required(field, "");
        }
    }
}

/// Reports errors in names that are set.
pub(super) fn check(names: &CustomResourceDefinitionNames, errors: &mut FieldErrors) {
    for (field, name) in names.all() {
        if name.is_empty() {
            continue;
        }
        let is_mixed = matches!(field, "kind" | "listKind");
        let problems = match is_mixed {
            true => dns_label_1035(&name.to_lowercase()),
            false => dns_label_1035(name),
        };
        if !problems.is_empty() {
            let words = match is_mixed {
                true => "may have mixed case, but should otherwise match: ",
                false => "",
            };
            errors.invalid(field, name, format!("{words}{}", problems.join(",")));
        }
    }
    check_all("shortNames", &names.short_names, errors);
    if !names.kind.is_empty() && names.kind == names.list_kind {
        errors.invalid("listKind", &names.list_kind, "kind and listKind may not be the same");
    }
    check_all("categories", &names.categories, errors);
}

fn check_all(field: &str, names: &[String], errors: &mut FieldErrors) {
    for (index, name) in names.iter().enumerate() {
        let problems = dns_label_1035(name);
        if !problems.is_empty() {
            errors.at_index(field, index).invalid("", name, problems.join(","));
        }
    }
}

impl CustomResourceDefinitionNames {
    /// Returns the single names with their fields.
    fn all(&self) -> [(&'static str, &str); 4] {
        [
            ("plural", &self.plural),
            ("singular", &self.singular),
            ("kind", &self.kind),
            ("listKind", &self.list_kind),
        ]
    }
}
