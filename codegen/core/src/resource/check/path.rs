//! Checks that dotted paths start at a field of the kind.

use super::super::attr::ResourceAttrs;
use super::super::model::CellSource;
use super::repeated;
use crate::diagnostics::Diagnostics;
use crate::keys::{Spanned, all_of};
use crate::names;
use crate::structure::StructModel;
use crate::type_ref::TypeRef;

/// Paths that field selectors support on every object.
const ALWAYS_SELECTABLE: [&str; 2] = ["metadata.name", "metadata.namespace"];

/// Checks the paths of `selectable(...)`.
pub(super) fn selectable(attrs: &ResourceAttrs, structure: &StructModel, diagnostics: &Diagnostics) {
    for path in &attrs.selectable {
        if ALWAYS_SELECTABLE.contains(&path.value.as_str()) {
            let problem = format_args!("\"{}\" can be selected in every kind", path.value);
            diagnostics.report(path.span, problem, "remove it");
        } else {
            names_a_field(path, structure, diagnostics);
        }
    }
    repeated(&attrs.selectable, "selectable path", diagnostics);
}

/// Checks the paths of `resets(...)` and `status_resets(...)`.
pub(super) fn resets(attrs: &ResourceAttrs, structure: &StructModel, diagnostics: &Diagnostics) {
    for paths in [&attrs.resets, &attrs.status_resets] {
        for path in paths {
            names_a_field(path, structure, diagnostics);
        }
        repeated(paths, "path", diagnostics);
    }
    if let (Some(path), None) = (attrs.status_resets.first(), attrs.status) {
        diagnostics.report(
            path.span,
            "`status_resets` is about writes to `/status`, which this kind does not have",
            "add `status`, or remove it",
        );
    }
}

/// Checks the path of `rows_by = "..."`.
pub(super) fn rows_by(attrs: &ResourceAttrs, structure: &StructModel, diagnostics: &Diagnostics) {
    if let Some(path) = &attrs.rows_by {
        names_a_field(path, structure, diagnostics);
    }
}

/// Checks that the path of `partitioned_by = "..."` is selectable.
pub(super) fn partitioned_by(attrs: &ResourceAttrs, diagnostics: &Diagnostics) {
    let Some(Spanned { value, span }) = &attrs.partitioned_by else {
        return;
    };
    if !attrs.selectable.iter().any(|path| path.value == *value) {
        let problem = format_args!("clients cannot select objects by \"{value}\"");
        diagnostics.report(
            *span,
            problem,
            format_args!("add `selectable(\"{value}\")`, or remove it"),
        );
    }
}

/// Checks the path of a column, dotted or in kubectl's notation. For the latter, only the first name is checked here; `cargo
/// xtask generate` checks the rest with the parser.
pub(super) fn leads_to_cells(path: &Spanned<String>, structure: &StructModel, diagnostics: &Diagnostics) {
    if let CellSource::Path(_) = CellSource::of_path(path.value.clone()) {
        names_a_field(path, structure, diagnostics);
        return;
    }
    let first = CellSource::first_name(&path.value);
    if first.is_empty() {
        let problem = format_args!("\"{}\" does not start with the name of a field", path.value);
        let help = "write it from the root and without a dot in front, such as \"status.conditions[?(@.type=='Ready')].status\"";
        diagnostics.report(path.span, problem, help);
        return;
    }
    let first = Spanned {
        value: first.to_owned(),
        span: path.span,
    };
    names_a_field(&first, structure, diagnostics);
}

/// Reports a path that starts at no field. Only the first step is checked here: the types below are declared elsewhere.
pub(super) fn names_a_field(path: &Spanned<String>, structure: &StructModel, diagnostics: &Diagnostics) {
    let Spanned { value, span } = path;
    let mut steps = value.split('.');
    if value.split('.').any(str::is_empty) {
        let help = "write JSON names with dots between them and none in front, such as \"spec.replicas\"";
        diagnostics.report(*span, format_args!("\"{value}\" is not a dotted path"), help);
        return;
    }
    let first = steps.next().unwrap_or_default();
    let Some(field) = structure.fields.iter().find(|field| field.name == first) else {
        if structure.fields.iter().any(|field| field.inline) {
            return; // may be a field of the inlined struct
        }
        let known = || structure.fields.iter().map(|field| field.name.as_str());
        let problem = format_args!("\"{value}\" names no field: `{}` has no \"{first}\"", structure.ident);
        match names::nearest(first, known()) {
            Some(near) => diagnostics.report(*span, problem, format_args!("did you mean \"{near}\"?")),
            None => diagnostics.report(*span, problem, format_args!("its fields are {}", all_of(known()))),
        }
        return;
    };
    let leaf = !matches!(
        field.shape.present(),
        TypeRef::Named(_) | TypeRef::Map(_) | TypeRef::Other
    );
    if leaf && steps.next().is_some() {
        let problem = format_args!("\"{value}\" goes below \"{first}\", which is {}", field.shape.noun());
        diagnostics.report(
            *span,
            problem,
            format_args!("write \"{first}\", or a path through structs"),
        );
    }
}
