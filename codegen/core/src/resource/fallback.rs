//! Generates stub impls to accompany the errors of a kind.

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use super::attr::ResourceAttrs;
use crate::diagnostics::Diagnostics;
use crate::structure::fallback as structure;

/// The stubs of the struct and those of a kind; traits of its strategy only if it does not implement them itself.
pub(crate) fn fallback(input: &DeriveInput) -> TokenStream {
    if structure::is_hopeless(input) {
        return TokenStream::new();
    }
    let ident = &input.ident;
    let name = ident.to_string();
    let (impl_generics, type_generics, where_clause) = structure::impl_header(input);
    let attrs = ResourceAttrs::read(input, &Diagnostics::default());
    let strategy = (!attrs.strategy).then(|| {
        quote! {
            #[automatically_derived]
            impl #impl_generics ::planesmith_machinery::strategy::Strategy for #ident #type_generics #where_clause {}
        }
    });
    let structure = structure::items(input);
    let facts = facts(&name);
    quote! {
        const _: () = {
            #structure

            #[automatically_derived]
            impl #impl_generics ::planesmith_machinery::object::Object for #ident #type_generics #where_clause {
                fn resource(&self) -> &'static ::planesmith_machinery::resource::ResourceFacts {
                    ::core::unreachable!(#name)
                }

                fn meta(&self) -> &::planesmith_machinery::meta::ObjectMeta {
                    ::core::unreachable!(#name)
                }

                fn meta_mut(&mut self) -> &mut ::planesmith_machinery::meta::ObjectMeta {
                    ::core::unreachable!(#name)
                }

                fn boxed(&self) -> ::std::boxed::Box<dyn ::planesmith_machinery::object::Object> {
                    ::core::unreachable!(#name)
                }
            }

            #[automatically_derived]
            impl #impl_generics ::planesmith_machinery::object::Resource for #ident #type_generics #where_clause {
                const RESOURCE: &'static ::planesmith_machinery::resource::ResourceFacts = &#facts;
            }

            #strategy
        };
    }
}

/// Generates a placeholder table, which is never read.
fn facts(name: &str) -> TokenStream {
    quote! {
        ::planesmith_machinery::resource::ResourceFacts {
            group: "",
            version: "",
            api_version: "",
            kind: #name,
            list_kind: "",
            plural: "",
            singular: "",
            storage_name: "",
            hashed_version: "",
            short_names: &[],
            categories: &[],
            scope: ::planesmith_machinery::resource::Scope::Cluster,
            served: false,
            deprecated: ::core::option::Option::None,
            conversion: ::core::option::Option::None,
            subresources: &[],
            selectable: &[],
            columns: &[],
            name_rule: ::planesmith_machinery::resource::NameRule::PathSegment,
            behavior: ::planesmith_machinery::resource::Behavior::NONE,
            schema: __facts,
            new: ::planesmith_machinery::resource::erased::zero::<Self>,
            strategy: &::planesmith_machinery::strategy::NoStrategy,
            extensions: ::planesmith_machinery::strategy::Extensions::NONE,
            custom: ::core::option::Option::None,
        }
    }
}
