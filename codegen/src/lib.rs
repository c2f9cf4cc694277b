//! Derives for objects and resources.

use proc_macro::TokenStream;

/// Derives the field table of a nested struct.
#[proc_macro_derive(Struct, attributes(schema, field))]
pub fn structure(input: TokenStream) -> TokenStream {
    drop(input);
    TokenStream::new()
}

/// Derives everything a kind needs to be served.
#[proc_macro_derive(Resource, attributes(resource, schema, field))]
pub fn resource(input: TokenStream) -> TokenStream {
    drop(input);
    TokenStream::new()
}
