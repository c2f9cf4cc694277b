//! Generates the table of a kind, in addition to that of its struct.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::model::{CellSource, ColumnModel, GenerationModel, NameRule, ResourceModel, Subresource, SubresourceKind};
use super::path_use::PathCheck;
use crate::structure::expand::{items, option};

/// Generates the impls of `#[derive(Resource)]`.
pub(crate) fn expand(model: &ResourceModel) -> TokenStream {
    let structure = items(&model.structure);
    let ident = &model.structure.ident;
    let table = table(model);
    let paths = model.paths.iter().map(PathCheck::assertion);
    let strategy = (!model.strategy).then(|| {
        quote! {
            impl __resource::strategy::Strategy for #ident {}
        }
    });
    // Without the key an implementation would never be called; with this one it does not compile.
    let extensions = (!model.strategy_extensions).then(|| {
        quote! {
            impl __resource::strategy::StrategyExtensions for #ident {}
        }
    });
    quote! {
        const _: () = {
            #structure

            use ::planesmith_machinery::resource as __resource;
            use ::std::borrow::Cow::Borrowed as __Text;

            static __TABLE: __resource::ResourceTable = #table;
            static __RESOURCE: __resource::ResourceFacts = __resource::ResourceFacts::declared(&__TABLE);

            #[automatically_derived]
            impl __resource::object::Object for #ident {
                fn resource(&self) -> &__resource::ResourceFacts {
                    &__RESOURCE
                }

                fn meta(&self) -> &::planesmith_machinery::meta::ObjectMeta {
                    &self.metadata
                }

                fn meta_mut(&mut self) -> &mut ::planesmith_machinery::meta::ObjectMeta {
                    &mut self.metadata
                }

                fn boxed(&self) -> ::std::boxed::Box<dyn __resource::object::Object> {
                    ::std::boxed::Box::new(::core::clone::Clone::clone(self))
                }
            }

            #[automatically_derived]
            impl __resource::object::Resource for #ident {
                const RESOURCE: &'static __resource::ResourceFacts = &__RESOURCE;
            }

            #strategy
            #extensions

            #(#paths)*
        };
    }
}

/// Generates the `ResourceTable`.
fn table(model: &ResourceModel) -> TokenStream {
    let ident = &model.structure.ident;
    let (group, version, api_version) = (
        str_tokens(&model.group),
        str_tokens(&model.version),
        str_tokens(&model.api_version),
    );
    let (kind, list_kind) = (str_tokens(&model.kind), str_tokens(&model.list_kind));
    let (plural, singular) = (str_tokens(&model.plural), str_tokens(&model.singular));
    let (storage_name, hashed_version) = (str_tokens(&model.storage_name), str_tokens(&model.hashed_version));
    let (short_names, categories) = (texts(&model.short_names), texts(&model.categories));
    let (served, selectable) = (model.served, texts(&model.selectable));
    let scope = if model.namespaced {
        quote!(Namespaced)
    } else {
        quote!(Cluster)
    };
    let deprecated = option(model.deprecated.as_ref().map(str_tokens));
    let feature = option(model.feature.as_ref().map(|feature| quote!(&#feature)));
    let conversion = conversion(model);
    let subresources = model.subresources.iter().map(subresource);
    let columns = model.columns.iter().map(|declared| column(ident, declared));
    let name_rule = name_rule(model.name_rule);
    let behavior = behavior(model);
    let strategy = match model.strategy {
        true => quote!(Typed::<#ident>::NEW),
        false => quote!(NoStrategy),
    };
    let extensions = match model.strategy_extensions {
        true => quote!(of::<#ident>()),
        false => quote!(NONE),
    };
    quote! {
        __resource::ResourceTable {
            group: #group,
            version: #version,
            api_version: #api_version,
            kind: #kind,
            list_kind: #list_kind,
            plural: #plural,
            singular: #singular,
            storage_name: #storage_name,
            hashed_version: #hashed_version,
            short_names: #short_names,
            categories: #categories,
            scope: __resource::Scope::#scope,
            served: #served,
            deprecated: #deprecated,
            feature: #feature,
            conversion: #conversion,
            subresources: __Text(&[#(#subresources),*]),
            selectable: #selectable,
            columns: __Text(&[#(#columns),*]),
            name_rule: __resource::NameRule::#name_rule,
            behavior: #behavior,
            schema: __facts,
            new: __resource::erased::zero::<#ident>,
            strategy: &__resource::strategy::#strategy,
            extensions: __resource::strategy::Extensions::#extensions,
            custom: ::core::option::Option::None,
        }
    }
}

/// Generates a text of a table.
fn str_tokens(text: impl AsRef<str>) -> TokenStream {
    let text = text.as_ref();
    quote!(__Text(#text))
}

fn texts(all: &[String]) -> TokenStream {
    let all = all.iter().map(str_tokens);
    quote!(__Text(&[#(#all),*]))
}

fn conversion(model: &ResourceModel) -> TokenStream {
    let ident = &model.structure.ident;
    option(model.storage_version.as_ref().map(|hub| {
        let (to_hub, from_hub, can_hold) = if model.convert {
            (
                quote!(__resource::finish_to_hub::<#ident, #hub>),
                quote!(__resource::finish_from_hub::<#ident, #hub>),
                quote!(__resource::can_hold::<#ident, #hub>),
            )
        } else {
            (quote!(|_, _| {}), quote!(|_, _| {}), quote!(|_| true))
        };
        quote! {
            __resource::ConversionFacts {
                hub: __resource::erased::facts_of::<#hub>,
                finish_to_hub: #to_hub,
                finish_from_hub: #from_hub,
                can_hold: #can_hold,
            }
        }
    }))
}

fn subresource(subresource: &Subresource) -> TokenStream {
    let name = &subresource.name;
    let kind = match &subresource.kind {
        SubresourceKind::Status => quote!(Status),
        SubresourceKind::Other => quote!(Other),
        SubresourceKind::Scale(scale) => {
            let (spec, status) = (str_tokens(&scale.spec_replicas), str_tokens(&scale.status_replicas));
            let selector = str_tokens(&scale.selector);
            quote! {
                Scale(__resource::ScaleFacts {
                    spec_replicas: #spec,
                    status_replicas: #status,
                    selector: #selector,
                })
            }
        }
    };
    quote! {
        __resource::SubresourceFacts {
            name: #name,
            kind: __resource::SubresourceKind::#kind,
        }
    }
}

fn column(ident: &Ident, column: &ColumnModel) -> TokenStream {
    let source = match &column.source {
        CellSource::Name => return quote!(__resource::Column::NAME),
        CellSource::Age => return quote!(__resource::Column::AGE),
        CellSource::Path(path) => quote!(Path(#path)),
        CellSource::JsonPath(path) => {
            let path = format!(".{path}");
            quote! {
                JsonPath({
                    static __PATH: ::planesmith_machinery::json_path::LazyPath =
                        ::planesmith_machinery::json_path::LazyPath::new(#path);
                    &__PATH
                })
            }
        }
        CellSource::Function(function) => quote! {
            Function(|__object| __resource::erased::cell_of::<#ident>(__object, #function))
        },
    };
    let (name, ty) = (str_tokens(&column.name), str_tokens(&column.ty));
    let (format, doc) = (str_tokens(&column.format), str_tokens(&column.doc));
    let priority = column.priority;
    quote! {
        __resource::Column {
            name: #name,
            ty: #ty,
            format: #format,
            doc: #doc,
            priority: #priority,
            source: __resource::CellSource::#source,
        }
    }
}

fn name_rule(rule: NameRule) -> TokenStream {
    match rule {
        NameRule::DnsSubdomain => quote!(DnsSubdomain),
        NameRule::DnsLabel => quote!(DnsLabel),
        NameRule::DnsLabel1035 => quote!(DnsLabel1035),
        NameRule::ConfigKey => quote!(ConfigKey),
        NameRule::PathSegment => quote!(PathSegment),
        NameRule::WholePathSegment => quote!(WholePathSegment),
        NameRule::LongName => quote!(LongName),
        NameRule::IpAddress => quote!(IpAddress),
        NameRule::OfStrategy => quote!(OfStrategy),
    }
}

fn behavior(model: &ResourceModel) -> TokenStream {
    let behavior = &model.behavior;
    let flags = [
        ("create_on_update", behavior.create_on_update),
        ("conditional_update", behavior.conditional_update),
        ("returns_deleted", behavior.returns_deleted),
        ("no_delete_collection", behavior.no_delete_collection),
        ("status_on_create", behavior.status_on_create),
        ("create_only", behavior.create_only),
        ("read_only", behavior.read_only),
        ("is_namespace", behavior.is_namespace),
        ("expires", behavior.expires),
        ("deleted_first", behavior.deleted_first),
    ];
    let flags = flags.iter().filter(|(_, set)| *set).map(|(name, _)| {
        let name = format_ident!("{name}");
        quote!(#name: true,)
    });
    let mut flags = flags.peekable();
    let generation = match behavior.generation {
        GenerationModel::None => None,
        GenerationModel::Content => Some(quote!(generation: __resource::Generation::Content,)),
        GenerationModel::AsSent => Some(quote!(generation: __resource::Generation::AsSent,)),
    };
    let paths = [("resets", &behavior.resets), ("status_resets", &behavior.status_resets)];
    let paths = paths
        .iter()
        .filter(|(_, paths)| !paths.is_empty())
        .map(|(name, paths)| {
            let name = format_ident!("{name}");
            quote!(#name: &[#(#paths),*],)
        });
    let mut paths = paths.peekable();
    let path = |name: &str, path: &str| {
        let name = format_ident!("{name}");
        (!path.is_empty()).then(|| quote!(#name: #path,))
    };
    let rows_by = path("rows_by", &behavior.rows_by);
    let partitioned_by = path("partitioned_by", &behavior.partitioned_by);
    let has_words = generation.is_some() || rows_by.is_some() || partitioned_by.is_some();
    if flags.peek().is_none() && paths.peek().is_none() && !has_words {
        return quote!(__resource::Behavior::NONE);
    }
    quote! {
        __resource::Behavior {
            #generation
            #(#flags)*
            #(#paths)*
            #rows_by
            #partitioned_by
            ..__resource::Behavior::NONE
        }
    }
}
