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
    let table = table(&name);
    quote! {
        const _: () = {
            #structure

            use ::planesmith_machinery::resource as __resource;
            use ::std::borrow::Cow::Borrowed as __Text;

            static __TABLE: __resource::ResourceTable = #table;
            static __RESOURCE: __resource::ResourceFacts = __resource::ResourceFacts::declared(&__TABLE);

            #[automatically_derived]
            impl #impl_generics ::planesmith_machinery::object::Object for #ident #type_generics #where_clause {
                fn resource(&self) -> &__resource::ResourceFacts {
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
                const RESOURCE: &'static __resource::ResourceFacts = &__RESOURCE;
            }

            #strategy
        };
    }
}

/// Generates a placeholder table, which is never read.
fn table(name: &str) -> TokenStream {
    quote! {
        __resource::ResourceTable {
            group: __Text(""),
            version: __Text(""),
            api_version: __Text(""),
            kind: __Text(#name),
            list_kind: __Text(""),
            plural: __Text(""),
            singular: __Text(""),
            storage_name: __Text(""),
            hashed_version: __Text(""),
            short_names: __Text(&[]),
            categories: __Text(&[]),
            scope: __resource::Scope::Cluster,
            served: false,
            deprecated: ::core::option::Option::None,
            feature: ::core::option::Option::None,
            conversion: ::core::option::Option::None,
            subresources: __Text(&[]),
            selectable: __Text(&[]),
            columns: __Text(&[]),
            name_rule: __resource::NameRule::PathSegment,
            behavior: __resource::Behavior::NONE,
            schema: __facts,
            new: || ::core::unreachable!(#name),
            strategy: &::planesmith_machinery::strategy::NoStrategy,
            extensions: ::planesmith_machinery::strategy::Extensions::NONE,
            custom: ::core::option::Option::None,
        }
    }
}
