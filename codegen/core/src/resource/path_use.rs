//! Compile-time type checks of dotted paths. The derive does not see the fields of nested structs, but constants in the kind's
//! crate do. They check two levels, which covers the fields of specs and statuses.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Type;

use super::attr::{ColumnAttrs, ResourceAttrs};
use super::model::CellSource;
use crate::keys::Spanned;
use crate::structure::StructModel;

/// A dotted path and the required type of its field.
#[derive(Clone, Debug)]
pub struct PathCheck {
    /// The key that contains the path.
    key: &'static str,
    path: String,
    span: Span,
    /// The type of the root field, if the path continues below it.
    below: Option<Type>,
    /// A variant of machinery's `PathUse`.
    used: &'static str,
    /// The allowed types.
    fitting: &'static str,
}

const INTEGER: &str = "an `i32` or `i64`";
const NUMBER: &str = "an `i32`, `i64` or `f64`";

impl PathCheck {
    /// Returns the checks for all paths of a kind.
    pub(super) fn all(attrs: &ResourceAttrs, structure: &StructModel) -> Vec<Self> {
        let mut checks = Self::declared(attrs);
        for check in &mut checks {
            let Some((first, _)) = check.path.split_once('.') else {
                continue;
            };
            let field = structure.fields.iter().find(|field| field.name == first);
            check.below = field.map(|field| field.ty.clone());
        }
        // The type of an inlined field is unknown here.
        checks.retain(|check| check.below.is_some() || !check.path.contains('.'));
        checks
    }

    fn declared(attrs: &ResourceAttrs) -> Vec<Self> {
        let mut checks = Vec::new();
        if let Some(scale) = &attrs.scale {
            for path in scale.spec.iter().chain(&scale.status) {
                checks.push(Self::new("scale", path, "Integer", INTEGER));
            }
            let selector = scale.selector.iter();
            checks.extend(selector.map(|path| Self::new("scale", path, "Selector", "a `String` or a label selector")));
        }
        for path in &attrs.selectable {
            let fitting = "a `String`, `bool`, `i32` or `i64`";
            checks.push(Self::new("selectable", path, "Selectable", fitting));
        }
        checks.extend(attrs.columns.iter().filter_map(Self::of_column));
        let rows_by = attrs.rows_by.iter();
        checks.extend(rows_by.map(|path| Self::new("rows_by", path, "Integer", INTEGER)));
        checks
    }

    /// Returns the check for a column with a dotted path. Other paths are evaluated on the document at run time.
    fn of_column(column: &ColumnAttrs) -> Option<Self> {
        let path = column.path.as_ref()?;
        let CellSource::Path(_) = CellSource::of_path(path.value.clone()) else {
            return None;
        };
        let (used, fitting) = match column.ty.as_ref()?.value.as_str() {
            "integer" | "number" => ("Number", NUMBER),
            "boolean" => ("Boolean", "a `bool`"),
            "date" => ("Date", "a `Time`, `MicroTime` or `String`"),
            _ => ("Any", "a field"),
        };
        Some(Self::new("column", path, used, fitting))
    }

    fn new(key: &'static str, path: &Spanned<String>, used: &'static str, fitting: &'static str) -> Self {
        Self {
            key,
            path: path.value.clone(),
            span: path.span,
            below: None,
            used,
            fitting,
        }
    }

    /// Generates a constant that fails to compile if the path has the wrong type; the error points at the path.
    pub(super) fn assertion(&self) -> TokenStream {
        let Self {
            key,
            path,
            span,
            below,
            used,
            fitting,
        } = self;
        let used = format_ident!("{used}");
        let nowhere = format!("`{key}` names \"{path}\", which is not a field");
        let other = format!("`{key}` needs {fitting}, and \"{path}\" is of another type");
        let at = Span::call_site().located_at(*span);
        let (facts, rest) = match (below, path.split_once('.')) {
            (Some(ty), Some((_, rest))) => (quote!(<#ty as ::planesmith_machinery::value::Shape>::FACTS), rest),
            _ => (quote!(::core::option::Option::Some(&__FACTS)), path.as_str()),
        };
        quote_spanned! {at=>
            const _: () = match ::planesmith_machinery::facts::check_path(
                #facts,
                #rest,
                ::planesmith_machinery::facts::PathUse::#used,
            ) {
                ::core::result::Result::Ok(()) => {}
                ::core::result::Result::Err(::planesmith_machinery::facts::PathError::NoSuchField) => {
                    ::core::panic!(#nowhere)
                }
                ::core::result::Result::Err(::planesmith_machinery::facts::PathError::WrongType) => {
                    ::core::panic!(#other)
                }
            };
        }
    }
}
