//! `#[derive(Resource)]`: implements all traits needed to serve a kind.

mod attr;
mod check;
mod expand;
mod fallback;
mod model;
mod path_use;

use proc_macro2::TokenStream;
use syn::DeriveInput;

use crate::diagnostics::{Diagnostics, expand_or_report};
use crate::structure::{self, attr::StructAttrs};
pub use model::{
    BehaviorModel, CellSource, ColumnModel, NameRule, ResourceModel, ScaleModel, Subresource, SubresourceKind,
};
pub use path_use::PathCheck;

/// Expands `#[derive(Resource)]`: to impls, or to all errors of the input with stub impls.
#[must_use]
pub fn derive(input: &DeriveInput) -> TokenStream {
    expand_or_report(model(input), expand::expand, || fallback::fallback(input))
}

/// Returns the validated facts of a kind.
///
/// # Errors
///
/// All problems of the input, as one error.
pub fn model(input: &DeriveInput) -> syn::Result<ResourceModel> {
    let diagnostics = Diagnostics::default();
    let attrs = attr::ResourceAttrs::read(input, &diagnostics);
    let mut struct_attrs = StructAttrs::read(input, &diagnostics);
    if let Some(type_meta) = struct_attrs.type_meta.take() {
        let help = "remove it; `#[resource(...)]` says the version and the kind";
        diagnostics.report(type_meta.span, "`type_meta` is for structs that are not kinds", help);
    }
    let structure = structure::check::check(input, struct_attrs, &diagnostics);
    let model = check::check(input, attrs, structure, &diagnostics);
    diagnostics.finish()?;
    model.ok_or_else(|| syn::Error::new(input.ident.span(), "the kind could not be read"))
}
