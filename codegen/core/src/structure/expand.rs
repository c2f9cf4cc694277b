//! Generates the table of a struct and the access to its fields.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Path;
use syn::spanned::Spanned;

use super::model::{FieldModel, ListType, Listing, Omit, PatchModel, RuleModel, StructModel};

/// Generates the impls of `#[derive(Struct)]`.
pub(crate) fn expand(model: &StructModel) -> TokenStream {
    let items = items(model);
    quote! {
        const _: () = { #items };
    }
}

/// Generates the table `__FACTS`, the function `__facts()`, and the impls that use them, to be placed in a separate block.
pub(crate) fn items(model: &StructModel) -> TokenStream {
    let table = table(model);
    let ident = &model.ident;
    let access = access(ident, &model.fields);
    let bridges = bridges(ident);
    quote! {
        static __FACTS: ::planesmith_machinery::facts::StructFacts = #table;

        fn __facts() -> &'static ::planesmith_machinery::facts::StructFacts {
            &__FACTS
        }

        #access

        #bridges

        ::planesmith_machinery::json_schema!(#ident, __facts);
    }
}

/// Generates the serde impls.
fn bridges(ident: &Ident) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl ::planesmith_machinery::bridge::serde::Serialize for #ident {
            fn serialize<__S: ::planesmith_machinery::bridge::serde::Serializer>(
                &self,
                __serializer: __S,
            ) -> ::core::result::Result<__S::Ok, __S::Error> {
                ::planesmith_machinery::bridge::serialize(self, __serializer)
            }
        }

        #[automatically_derived]
        impl<'__de> ::planesmith_machinery::bridge::serde::Deserialize<'__de> for #ident {
            fn deserialize<__D: ::planesmith_machinery::bridge::serde::Deserializer<'__de>>(
                __deserializer: __D,
            ) -> ::core::result::Result<Self, __D::Error> {
                ::planesmith_machinery::bridge::deserialize(__deserializer)
            }
        }
    }
}

/// Generates the impls of `Shape`, `Value` and `Struct` over `__FACTS`.
fn access(ident: &Ident, fields: &[FieldModel]) -> TokenStream {
    let shared = arms(fields, |at, field| quote_spanned!(at=> &self.#field));
    let exclusive = arms(fields, |at, field| quote_spanned!(at=> &mut self.#field));
    quote! {
        #[automatically_derived]
        impl ::planesmith_machinery::value::Shape for #ident {
            const TYPE: ::planesmith_machinery::facts::TypeFacts =
                ::planesmith_machinery::facts::TypeFacts::Struct(__facts);
            const FACTS: ::planesmith_machinery::facts::StructTable = ::core::option::Option::Some(&__FACTS);
        }

        #[automatically_derived]
        impl ::planesmith_machinery::value::Value for #ident {
            fn view(&self) -> ::planesmith_machinery::value::View<'_> {
                ::planesmith_machinery::value::View::Struct(self)
            }

            fn slot(&mut self) -> ::planesmith_machinery::value::Slot<'_> {
                ::planesmith_machinery::value::Slot::Struct(self)
            }

            fn reset(&mut self) {
                *self = ::core::default::Default::default();
            }
        }

        #[automatically_derived]
        impl ::planesmith_machinery::value::Struct for #ident {
            fn facts(&self) -> &'static ::planesmith_machinery::facts::StructFacts {
                &__FACTS
            }

            fn field(&self, __index: ::core::primitive::usize) -> &dyn ::planesmith_machinery::value::Value {
                match __index {
                    #shared
                    _ => ::core::unreachable!(),
                }
            }

            fn field_mut(&mut self, __index: ::core::primitive::usize) -> &mut dyn ::planesmith_machinery::value::Value {
                match __index {
                    #exclusive
                    _ => ::core::unreachable!(),
                }
            }
        }
    }
}

/// Generates `0usize => &self.first, ...`, with spans such that an error about the type of a field points at the type.
fn arms(fields: &[FieldModel], place: impl Fn(Span, &Ident) -> TokenStream) -> TokenStream {
    let arms = fields.iter().enumerate().map(|(index, field)| {
        // Only the location is that of the type: `self` must resolve in the enclosing function.
        let at = Span::call_site().located_at(field.ty.span());
        let place = place(at, &field.ident);
        quote!(#index => #place,)
    });
    arms.collect()
}

/// Generates the `StructFacts`.
fn table(model: &StructModel) -> TokenStream {
    let StructModel { name, doc, .. } = model;
    let type_meta = model.type_meta.as_ref().map(|meta| {
        let (api_version, kind) = (&meta.api_version, &meta.kind);
        quote! {
            type_meta: ::core::option::Option::Some(
                ::planesmith_machinery::facts::TypeMetaFacts { api_version: #api_version, kind: #kind }
            ),
        }
    });
    let atomic = model.atomic.then(|| quote!(atomic: true,));
    let internal = model.internal.as_ref();
    let internal = internal.map(|path| quote!(internal: ::core::option::Option::Some(&#path),));
    let go_names = model.fields.iter().filter(|field| !field.go_name.is_empty());
    let go_names = go_names.map(|FieldModel { name, go_name, .. }| quote!((#name, #go_name)));
    let mut go_names = go_names.peekable();
    let go_names = go_names.peek().is_some().then(|| quote!(go_names: &[#(#go_names),*],));
    let fields = model.fields.iter().map(field_facts);
    quote! {
        ::planesmith_machinery::facts::StructFacts {
            name: #name,
            module: ::core::module_path!(),
            doc: #doc,
            #type_meta
            #atomic
            #internal
            #go_names
            fields: &[#(#fields),*],
            ..::planesmith_machinery::facts::StructFacts::NONE
        }
    }
}

/// Generates one `FieldFacts`; undeclared facts come from `FieldFacts::NONE`.
fn field_facts(field: &FieldModel) -> TokenStream {
    let mut facts = TokenStream::new();
    let mut set = |name: &str, declared: bool, value: TokenStream| {
        if declared {
            let name = format_ident!("{name}");
            facts.extend(quote!(#name: #value,));
        }
    };
    let FieldModel {
        name,
        ty,
        proto,
        doc,
        default,
        rules,
        moved_to,
        go_type,
        ..
    } = field;
    set("name", !name.is_empty(), name.to_token_stream());
    let shape =
        quote_spanned!(Span::call_site().located_at(ty.span())=> <#ty as ::planesmith_machinery::value::Shape>::TYPE);
    set("ty", true, shape);
    set("omit", field.omit != Omit::Empty, omit(field.omit));
    set("proto", *proto != 0, proto.to_token_stream());
    set("doc", !doc.is_empty(), doc.to_token_stream());
    set("inline", field.inline, quote!(true));
    set("required", field.required, quote!(true));
    set("listing", field.listing != Listing::AsWritten, listing(field.listing));
    set("default", default.is_some(), option(default.as_ref()));
    let known = field.known_at.as_ref().map(known_at);
    let is_declared = known.is_some() || !rules.is_empty();
    let rules = known.into_iter().chain(rules.iter().map(rule));
    set("rules", is_declared, quote!(&[#(#rules),*]));
    set("list", field.list != ListType::Unspecified, list(&field.list));
    set("atomic", field.atomic, quote!(true));
    set("granular", field.granular, quote!(true));
    set("patch", field.patch.is_some(), option(field.patch.as_ref().map(patch)));
    set("moved_to", moved_to.is_some(), option(moved_to.as_ref()));
    set("go_type", !go_type.is_empty(), go_type.to_token_stream());
    quote! {
        ::planesmith_machinery::facts::FieldFacts {
            #facts
            ..::planesmith_machinery::facts::FieldFacts::NONE
        }
    }
}

fn omit(omit: Omit) -> TokenStream {
    let variant = match omit {
        Omit::Never => quote!(Never),
        Omit::Empty => quote!(Empty),
        Omit::Zero => quote!(Zero),
    };
    quote!(::planesmith_machinery::facts::Omit::#variant)
}

fn listing(listing: Listing) -> TokenStream {
    let variant = match listing {
        Listing::AsWritten => quote!(AsWritten),
        Listing::Required => quote!(Required),
        Listing::Optional => quote!(Optional),
    };
    quote!(::planesmith_machinery::facts::Listing::#variant)
}

fn list(list: &ListType) -> TokenStream {
    let variant = match list {
        ListType::Unspecified => quote!(Unspecified),
        ListType::Atomic => quote!(Atomic),
        ListType::Set => quote!(Set),
        ListType::Map(keys) => quote!(Map(&[#(#keys),*])),
    };
    quote!(::planesmith_machinery::facts::ListType::#variant)
}

fn patch(patch: &PatchModel) -> TokenStream {
    let PatchModel {
        merge,
        retain_keys,
        replace,
        merge_key,
    } = patch;
    quote! {
        ::planesmith_machinery::facts::PatchFacts {
            merge: #merge,
            retain_keys: #retain_keys,
            replace: #replace,
            merge_key: #merge_key,
        }
    }
}

/// Generates the usual values that a constant lists; one of another type is reported at its path.
fn known_at(path: &Path) -> TokenStream {
    let texts = quote_spanned!(Span::call_site().located_at(path.span())=> &#path);
    quote!(::planesmith_machinery::facts::Rule::KnownValues(#texts))
}

fn rule(declared: &RuleModel) -> TokenStream {
    let variant = match declared {
        RuleModel::Enum(texts) => quote!(Enum(&[#(#texts),*])),
        RuleModel::KnownValues(texts) => quote!(KnownValues(&[#(#texts),*])),
        RuleModel::Minimum(number) => quote!(Minimum(#number)),
        RuleModel::Maximum(number) => quote!(Maximum(#number)),
        RuleModel::MinLength(length) => quote!(MinLength(#length)),
        RuleModel::MaxLength(length) => quote!(MaxLength(#length)),
        RuleModel::Pattern(pattern) => quote!(Pattern(#pattern)),
        RuleModel::Each(rules) => {
            let rules = rules.iter().map(rule);
            quote!(Each(&[#(#rules),*]))
        }
        RuleModel::Unique(keys) => quote!(Unique(&[#(#keys),*])),
        RuleModel::Immutable => quote!(Immutable),
    };
    quote!(::planesmith_machinery::facts::Rule::#variant)
}

/// Generates `Some(value)` or `None` with absolute paths.
pub(crate) fn option(value: Option<impl ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
