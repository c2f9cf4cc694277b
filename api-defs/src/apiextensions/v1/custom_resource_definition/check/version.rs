//! Validation of a version.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_format::is_printable;
use planesmith_machinery::names::dns_label_1035;

use super::super::layout::Layout;
use super::tolerance::Tolerance;
use super::{schema, selectable};
use crate::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinitionVersion, CustomResourceSubresourceScale,
    CustomResourceSubresources,
};

/// Maximum length of a deprecation warning, in bytes.
const MAX_WARNING: usize = 256;
/// Legal types of columns.
const COLUMN_TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
/// Legal formats of columns.
const COLUMN_FORMATS: [&str; 8] = [
    "byte",
    "date",
    "date-time",
    "double",
    "float",
    "int32",
    "int64",
    "password",
];

/// Checks a version without the parts that all versions share.
pub(super) fn check(
    layout: &Layout<'_>,
    version: &CustomResourceDefinitionVersion,
    tolerance: &Tolerance,
    errors: &mut FieldErrors,
) {
    check_name("name", &version.name, errors);
    check_deprecation(version, errors);
    if let Some(schema) = layout.schema_of(version) {
        let has_status = |version: &CustomResourceDefinitionVersion| {
            let subresources = version.subresources.as_ref();
            subresources.is_some_and(|subresources| subresources.status.is_some())
        };
        let tolerance = &tolerance.for_version(&version.name);
        schema::check(schema, has_status(version), tolerance, &mut errors.at("schema"));
    }
    if let Some(subresources) = layout.subresources_of(version) {
        check_subresources(subresources, &mut errors.at("subresources"));
    }
    for (index, column) in layout.columns_of(version).iter().enumerate() {
        check_column(column, &mut errors.at_index("additionalPrinterColumns", index));
    }
    let fields = layout.selectable_of(version);
    if fields.is_empty() {
        return;
    }
    match layout
        .schema_of(version)
        .and_then(|schema| schema.open_apiv3_schema.as_ref())
    {
        None => {
            let detail = "may only be set when `version.schema.openAPIV3Schema` is not included";
            errors.invalid("selectableFields", "", detail);
        }
        schema => selectable::check(fields, schema, tolerance.lets_many_fields(&version.name), errors),
    }
}

/// Checks the name of a version.
pub(super) fn check_name(field: &str, name: &str, errors: &mut FieldErrors) {
    let problems = dns_label_1035(name);
    // The copy of the first version's name may be empty.
    if !problems.is_empty() && (field == "name" || !name.is_empty()) {
        errors.invalid(field, name, problems.join(","));
    }
}

fn check_deprecation(version: &CustomResourceDefinitionVersion, errors: &mut FieldErrors) {
    let Some(warning) = &version.deprecation_warning else {
        return;
    };
    let mut wrong = |detail: &str| errors.invalid("deprecationWarning", warning, detail);
    if !version.deprecated {
        wrong("can only be set for deprecated versions");
        return;
    }
    if warning.len() > MAX_WARNING {
        wrong("must be <= 256 characters long");
    }
    if warning.is_empty() {
        wrong("must not be an empty string");
    }
    let odd = warning.char_indices().find(|(_, c)| !is_printable(*c));
    if let Some((index, _)) = odd {
        wrong(&format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {index}"
        ));
    }
}

/// Checks the subresources.
pub(super) fn check_subresources(subresources: &CustomResourceSubresources, errors: &mut FieldErrors) {
    let Some(scale) = &subresources.scale else { return };
    let CustomResourceSubresourceScale {
        spec_replicas_path: wanted,
        status_replicas_path: observed,
        label_selector_path: selector,
    } = scale;
    check_scale_path("scale.specReplicasPath", wanted, &[".spec."], "under .spec", errors);
    check_scale_path(
        "scale.statusReplicasPath",
        observed,
        &[".status."],
        "under .status",
        errors,
    );
    if let Some(selector) = selector.as_deref().filter(|selector| !selector.is_empty()) {
        let roots = [".spec.", ".status."];
        check_scale_path(
            "scale.labelSelectorPath",
            selector,
            &roots,
            "under either .spec or .status",
            errors,
        );
    }
}

fn check_scale_path(field: &str, path: &str, roots: &[&str], words: &str, errors: &mut FieldErrors) {
    if path.is_empty() {
        errors.required(field, "");
    } else if !path.starts_with('.') {
        errors.invalid(field, path, "must be a simple json path starting with .");
    } else if !roots.iter().any(|root| path.starts_with(root)) {
        errors.invalid(field, path, format!("should be a json path {words}"));
    }
}

/// Checks a column.
pub(super) fn check_column(column: &CustomResourceColumnDefinition, errors: &mut FieldErrors) {
    if column.name.is_empty() {
        errors.required("name", "");
    }
    let detail = format!("must be one of {}", COLUMN_TYPES.join(","));
    if column.type_.is_empty() {
        errors.required("type", detail);
    } else if !COLUMN_TYPES.contains(&column.type_.as_str()) {
        errors.invalid("type", &column.type_, detail);
    }
    if !column.format.is_empty() && !COLUMN_FORMATS.contains(&column.format.as_str()) {
        let detail = format!("must be one of {}", COLUMN_FORMATS.join(","));
        errors.invalid("format", &column.format, detail);
    }
    if column.json_path.is_empty() {
        errors.required("JSONPath", "");
    } else if !column.json_path.starts_with('.') {
        errors.invalid(
            "JSONPath",
            &column.json_path,
            "must be a simple json path starting with .",
        );
    }
}
