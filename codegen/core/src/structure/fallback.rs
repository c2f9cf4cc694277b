//! Generates stub impls to accompany errors, so that uses of the type cause no further errors.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput};

/// Generates an empty table, and functions that never run because the crate does not compile.
pub(crate) fn fallback(input: &DeriveInput) -> TokenStream {
    if is_hopeless(input) {
        return TokenStream::new();
    }
    let items = items(input);
    quote! {
        const _: () = { #items };
    }
}

/// Generates the stubs and their `__facts()`, to be placed in a separate block.
pub(crate) fn items(input: &DeriveInput) -> TokenStream {
    let ident = &input.ident;
    let name = ident.to_string();
    let (impl_generics, type_generics, where_clause) = impl_header(input);
    let bridges = bridges(input);
    quote! {
        static __FACTS: ::planesmith_machinery::facts::StructFacts = ::planesmith_machinery::facts::StructFacts {
            name: #name,
            module: ::core::module_path!(),
            ..::planesmith_machinery::facts::StructFacts::NONE
        };

        fn __facts() -> &'static ::planesmith_machinery::facts::StructFacts {
            &__FACTS
        }

        #[automatically_derived]
        impl #impl_generics ::planesmith_machinery::value::Shape for #ident #type_generics #where_clause {
            const TYPE: ::planesmith_machinery::facts::TypeFacts =
                ::planesmith_machinery::facts::TypeFacts::Struct(__facts);
        }

        #[automatically_derived]
        impl #impl_generics ::planesmith_machinery::value::Value for #ident #type_generics #where_clause {
            fn view(&self) -> ::planesmith_machinery::value::View<'_> {
                ::planesmith_machinery::value::View::Absent
            }

            fn slot(&mut self) -> ::planesmith_machinery::value::Slot<'_> {
                ::core::unreachable!()
            }

            fn reset(&mut self) {}
        }

        #[automatically_derived]
        impl #impl_generics ::planesmith_machinery::value::Struct for #ident #type_generics #where_clause {
            fn facts(&self) -> &'static ::planesmith_machinery::facts::StructFacts {
                &__FACTS
            }

            fn field(&self, _: ::core::primitive::usize) -> &dyn ::planesmith_machinery::value::Value {
                ::core::unreachable!()
            }

            fn field_mut(&mut self, _: ::core::primitive::usize) -> &mut dyn ::planesmith_machinery::value::Value {
                ::core::unreachable!()
            }
        }

        #bridges
    }
}

/// Generates stubs of serde's and schemars' traits, except for generic types, whose bounds are not worth the effort.
fn bridges(input: &DeriveInput) -> TokenStream {
    if !input.generics.params.is_empty() {
        return TokenStream::new();
    }
    let ident = &input.ident;
    quote! {
        #[automatically_derived]
        impl ::planesmith_machinery::bridge::serde::Serialize for #ident {
            fn serialize<__S: ::planesmith_machinery::bridge::serde::Serializer>(
                &self,
                _: __S,
            ) -> ::core::result::Result<__S::Ok, __S::Error> {
                ::core::unreachable!()
            }
        }

        #[automatically_derived]
        impl<'__de> ::planesmith_machinery::bridge::serde::Deserialize<'__de> for #ident {
            fn deserialize<__D: ::planesmith_machinery::bridge::serde::Deserializer<'__de>>(
                _: __D,
            ) -> ::core::result::Result<Self, __D::Error> {
                ::core::unreachable!()
            }
        }

        ::planesmith_machinery::json_schema!(#ident, __facts);
    }
}

/// True if stubs would cause errors themselves: a union cannot derive the supertraits.
pub(crate) fn is_hopeless(input: &DeriveInput) -> bool {
    matches!(input.data, Data::Union(_))
}

/// Returns `impl<...>`, `Type<...>` and a `where` clause with the bounds that the traits require of a generic type.
pub(crate) fn impl_header(input: &DeriveInput) -> (TokenStream, TokenStream, TokenStream) {
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    let mut bounds = quote!(#where_clause);
    if !input.generics.params.is_empty() {
        let ident = &input.ident;
        let separator = if where_clause.is_some() {
            quote!(,)
        } else {
            quote!(where)
        };
        bounds.extend(quote! {
            #separator #ident #type_generics:
                ::core::any::Any + ::core::fmt::Debug + ::core::marker::Send + ::core::marker::Sync
        });
    }
    (quote!(#impl_generics), quote!(#type_generics), bounds)
}
