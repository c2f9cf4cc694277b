//! Derives for objects and resources.
//!
//! The implementation is in `planesmith_codegen_core`; this crate has the user documentation. Use the derives through
//! `planesmith_machinery`, which declares the traits they implement.

use proc_macro::TokenStream;
use syn::parse_macro_input;

#[doc = include_str!("../docs/struct.md")]
#[proc_macro_derive(Struct, attributes(schema, field))]
pub fn structure(input: TokenStream) -> TokenStream {
    planesmith_codegen_core::structure::derive(&parse_macro_input!(input)).into()
}

#[doc = include_str!("../docs/resource.md")]
#[proc_macro_derive(Resource, attributes(resource, schema, field))]
pub fn resource(input: TokenStream) -> TokenStream {
    planesmith_codegen_core::resource::derive(&parse_macro_input!(input)).into()
}
