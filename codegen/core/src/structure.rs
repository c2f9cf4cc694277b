//! `#[derive(Struct)]`: the field table of a struct and access to its fields.

pub(crate) mod attr;
pub(crate) mod check;
pub(crate) mod expand;
pub(crate) mod fallback;
mod model;

use proc_macro2::TokenStream;
use syn::DeriveInput;

use crate::diagnostics::{Diagnostics, expand_or_report};
pub use check::pattern_problem;
pub use model::{FieldModel, ListType, Listing, Omit, PatchModel, RuleModel, StructModel, TypeMeta};

/// Expands `#[derive(Struct)]`: to impls, or to all errors of the input with stub impls.
#[must_use]
pub fn derive(input: &DeriveInput) -> TokenStream {
    expand_or_report(model(input), expand::expand, || fallback::fallback(input))
}

/// Returns the validated facts of a struct.
///
/// # Errors
///
/// All problems of the input, as one error.
pub fn model(input: &DeriveInput) -> syn::Result<StructModel> {
    let diagnostics = Diagnostics::default();
    let attrs = attr::StructAttrs::read(input, &diagnostics);
    let model = check::check(input, attrs, &diagnostics);
    diagnostics.finish()?;
    Ok(model)
}
