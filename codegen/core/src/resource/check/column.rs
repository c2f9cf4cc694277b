//! Checks of table columns.

use super::super::attr::{ColumnAttrs, Standard};
use super::super::model::{CellSource, ColumnModel};
use super::path;
use crate::diagnostics::Diagnostics;
use crate::keys::one_of;
use crate::structure::StructModel;

/// The allowed cell types.
const TYPES: [&str; 5] = ["string", "integer", "number", "boolean", "date"];

/// Returns the models of all columns.
pub(super) fn columns(columns: &[ColumnAttrs], structure: &StructModel, diagnostics: &Diagnostics) -> Vec<ColumnModel> {
    let mut models: Vec<ColumnModel> = Vec::new();
    for attrs in columns {
        let model = match attrs.standard {
            Some(standard) => self::standard(standard, attrs, diagnostics),
            None => column(attrs, structure, diagnostics),
        };
        if !model.name.is_empty() && models.iter().any(|other| other.name == model.name) {
            let problem = format_args!("two columns are called \"{}\"", model.name);
            let at = attrs.name.as_ref().map_or(attrs.span, |name| name.span);
            diagnostics.report(at, problem, "give this one another name");
        }
        models.push(model);
    }
    models
}

fn standard(standard: Standard, attrs: &ColumnAttrs, diagnostics: &Diagnostics) -> ColumnModel {
    let (key, name, source) = match standard {
        Standard::Name => ("name", "Name", CellSource::Name),
        Standard::Age => ("age", "Age", CellSource::Age),
    };
    for other in attrs.keys.iter().filter(|other| other.value != key) {
        let problem = format_args!("`{}` contradicts `column({key})`, which is complete", other.value);
        let help = if standard == Standard::Name {
            "write `name = \"...\"`, or `column(name)` alone"
        } else {
            "remove it"
        };
        diagnostics.report(other.span, problem, help);
    }
    let name = name.to_owned();
    ColumnModel {
        name,
        ty: String::new(),
        format: String::new(),
        doc: String::new(),
        priority: 0,
        source,
    }
}

fn column(attrs: &ColumnAttrs, structure: &StructModel, diagnostics: &Diagnostics) -> ColumnModel {
    let met = |key: &str| attrs.keys.iter().find(|other| other.value == key);
    for (key, example) in [("name", "name = \"Size\""), ("type", "type = \"integer\"")] {
        if met(key).is_none() {
            let problem = format_args!("`column` needs `{key}`");
            diagnostics.report(attrs.span, problem, format_args!("add `{example}`"));
        }
    }
    if let Some(ty) = attrs.ty.as_ref().filter(|ty| !TYPES.contains(&ty.value.as_str())) {
        let problem = format_args!("\"{}\" is not the type of a column", ty.value);
        diagnostics.report(ty.span, problem, format_args!("use {}", one_of(TYPES)));
    }
    if let Some(priority) = attrs.priority.as_ref().filter(|priority| priority.value < 0) {
        let problem = format_args!("a column's priority cannot be {}", priority.value);
        diagnostics.report(
            priority.span,
            problem,
            "use 0 to show it always, 1 to show it with `-o wide`",
        );
    }
    match (met("path"), met("with")) {
        (None, None) => {
            let problem = "`column` needs `path` or `with`";
            let help = "add `path = \"spec.size\"`, or `with = size_cell` for a function from the kind to a `Cell`";
            diagnostics.report(attrs.span, problem, help);
        }
        (Some(_), Some(with)) => {
            diagnostics.report(
                with.span,
                "`with` contradicts `path`",
                "keep one: a cell has one source",
            );
        }
        _ => {}
    }
    if let Some(given) = &attrs.path {
        path::leads_to_cells(given, structure, diagnostics);
    }
    let text = |given: &Option<crate::keys::Spanned<String>>| {
        given.as_ref().map(|given| given.value.clone()).unwrap_or_default()
    };
    ColumnModel {
        name: text(&attrs.name),
        ty: text(&attrs.ty),
        format: text(&attrs.format),
        doc: text(&attrs.doc),
        priority: attrs.priority.as_ref().map_or(0, |priority| priority.value),
        source: match &attrs.with {
            Some(function) => CellSource::Function(function.clone()),
            None => CellSource::of_path(text(&attrs.path)),
        },
    }
}
