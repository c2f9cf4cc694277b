//! Checks of a kind as a whole; its parts are in [`column`] and [`path`].

mod column;
mod path;

use proc_macro2::Span;
use syn::DeriveInput;

use super::attr::{ResourceAttrs, ScaleAttrs};
use super::model::{BehaviorModel, NameRule, ResourceModel, ScaleModel, Subresource, SubresourceKind};
use super::path_use::PathCheck;
use crate::diagnostics::Diagnostics;
use crate::keys::Spanned;
use crate::names;
use crate::structure::attr::named_fields;
use crate::structure::{StructModel, TypeMeta};
use crate::type_ref::TypeRef;

/// Returns the model of a kind; `None` only after reporting a problem.
pub(super) fn check(
    input: &DeriveInput,
    attrs: ResourceAttrs,
    structure: StructModel,
    diagnostics: &Diagnostics,
) -> Option<ResourceModel> {
    let at = attrs.span.unwrap_or_else(|| input.ident.span());
    required(&attrs, &input.ident, at, diagnostics);
    if named_fields(input).is_some() {
        fields(&structure, diagnostics);
    }
    conversion(&attrs, &structure, diagnostics);
    storage(&attrs, diagnostics);
    let group = legal(attrs.group.as_ref(), "an API group", names::group_problem, diagnostics);
    let version = legal(
        attrs.version.as_ref(),
        "an API version",
        names::version_problem,
        diagnostics,
    );
    let hashed_version = legal(
        attrs.hashed_version.as_ref(),
        "an API version",
        names::version_problem,
        diagnostics,
    );
    let kind = match &attrs.kind {
        Some(kind) => legal(Some(kind), "a kind", names::kind_problem, diagnostics),
        None => rust_kind(&structure, diagnostics),
    };
    let subresources = subresources(&attrs, &structure, diagnostics);
    path::selectable(&attrs, &structure, diagnostics);
    path::resets(&attrs, &structure, diagnostics);
    path::rows_by(&attrs, &structure, diagnostics);
    path::partitioned_by(&attrs, diagnostics);
    let columns = column::columns(&attrs.columns, &structure, diagnostics);
    let paths = PathCheck::all(&attrs, &structure);
    let names = Names::from_attrs(&attrs, kind.as_deref().unwrap_or_default(), diagnostics);
    let (group, version, kind) = (group?, version?, kind?);
    let api_version = names::api_version(&group, &version);
    Some(ResourceModel {
        structure: with_type_meta(structure, &api_version, &kind),
        api_version,
        list_kind: names.list,
        plural: names.plural,
        singular: names.singular,
        storage_name: names.storage,
        hashed_version: hashed_version.unwrap_or_else(|| version.clone()),
        short_names: names.short,
        categories: values(&attrs.categories),
        namespaced: attrs.cluster.is_none(),
        served: attrs.unserved.is_none(),
        deprecated: attrs.deprecated.map(|warning| warning.value),
        feature: attrs.feature,
        convert: attrs.convert.is_some(),
        storage_version: attrs.storage_version,
        subresources,
        selectable: values(&attrs.selectable),
        columns,
        paths,
        name_rule: attrs.name_rule.unwrap_or(NameRule::DnsSubdomain),
        behavior: BehaviorModel {
            resets: values(&attrs.resets),
            status_resets: values(&attrs.status_resets),
            rows_by: attrs.rows_by.map(|path| path.value).unwrap_or_default(),
            partitioned_by: attrs.partitioned_by.map(|path| path.value).unwrap_or_default(),
            create_only: attrs.create_only.is_some(),
            read_only: attrs.read_only.is_some(),
            ..attrs.behavior
        },
        strategy: attrs.strategy,
        strategy_extensions: attrs.strategy_extensions,
        group,
        version,
        kind,
    })
}

/// Adds the `kind` and `apiVersion` of the kind.
fn with_type_meta(structure: StructModel, api_version: &str, kind: &str) -> StructModel {
    let type_meta = Some(TypeMeta {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
    });
    StructModel { type_meta, ..structure }
}

fn values(texts: &[Spanned<String>]) -> Vec<String> {
    texts.iter().map(|text| text.value.clone()).collect()
}

/// The names of a resource.
struct Names {
    list: String,
    plural: String,
    singular: String,
    storage: String,
    short: Vec<String>,
}

impl Names {
    fn from_attrs(attrs: &ResourceAttrs, kind: &str, diagnostics: &Diagnostics) -> Self {
        let resource =
            |name: &Option<Spanned<String>>, what| legal(name.as_ref(), what, names::resource_problem, diagnostics);
        let singular = resource(&attrs.singular, "a resource name").unwrap_or_else(|| kind.to_lowercase());
        let plural = resource(&attrs.plural, "a resource name").unwrap_or_else(|| names::plural(&kind.to_lowercase()));
        let storage = legal(
            attrs.storage_name.as_ref(),
            "a name in the store",
            names::storage_problem,
            diagnostics,
        );
        let list = legal(attrs.list.as_ref(), "a kind", names::kind_problem, diagnostics);
        for short in &attrs.short {
            legal(Some(short), "a short name", names::resource_problem, diagnostics);
            if short.value == plural || short.value == singular {
                let problem = format_args!("the short name \"{}\" is the resource's own name", short.value);
                diagnostics.report(short.span, problem, "remove it");
            }
        }
        for category in &attrs.categories {
            legal(Some(category), "a category", names::resource_problem, diagnostics);
        }
        repeated(&attrs.short, "short name", diagnostics);
        repeated(&attrs.categories, "category", diagnostics);
        let list = list.unwrap_or_else(|| format!("{kind}List"));
        Self {
            list,
            storage: storage.unwrap_or_else(|| plural.clone()),
            plural,
            singular,
            short: values(&attrs.short),
        }
    }
}

/// Returns the text; reports it if it is not legal.
fn legal(
    text: Option<&Spanned<String>>,
    what: &str,
    problem: fn(&str) -> Option<&'static str>,
    diagnostics: &Diagnostics,
) -> Option<String> {
    let text = text?;
    if let Some(help) = problem(&text.value) {
        diagnostics.report(text.span, format_args!("\"{}\" is not {what}", text.value), help);
    }
    Some(text.value.clone())
}

fn repeated(texts: &[Spanned<String>], what: &str, diagnostics: &Diagnostics) {
    for (index, text) in texts.iter().enumerate() {
        if texts[..index].iter().any(|other| other.value == text.value) {
            diagnostics.report(
                text.span,
                format_args!("the {what} \"{}\" is written twice", text.value),
                "keep one",
            );
        }
    }
}

fn rust_kind(structure: &StructModel, diagnostics: &Diagnostics) -> Option<String> {
    let kind = structure.ident.to_string();
    if names::kind_problem(&kind).is_some() {
        let problem = format_args!("`{kind}` is not a kind");
        let help = "rename the struct in upper camel case, or add `kind = \"...\"` to `#[resource(...)]`";
        diagnostics.report(structure.ident.span(), problem, help);
    }
    Some(kind)
}

fn required(attrs: &ResourceAttrs, ident: &proc_macro2::Ident, at: Span, diagnostics: &Diagnostics) {
    if attrs.span.is_none() {
        let problem = format_args!("`{ident}` has no `#[resource(...)]`");
        diagnostics.report(
            at,
            problem,
            "add `#[resource(group = \"shop.example.com\", version = \"v1\")]` above it",
        );
        return;
    }
    for (key, example) in [
        ("group", "group = \"shop.example.com\""),
        ("version", "version = \"v1\""),
    ] {
        if !attrs.keys.iter().any(|met| met == key) {
            let core = if key == "group" {
                ", or `group = \"\"` for the core group"
            } else {
                ""
            };
            let problem = format_args!("`#[resource(...)]` needs `{key}`");
            diagnostics.report(at, problem, format_args!("add `{example}`{core}"));
        }
    }
}

/// Requires `metadata`, and refuses fields for `kind` and `apiVersion`, which the derive writes.
fn fields(structure: &StructModel, diagnostics: &Diagnostics) {
    let declares = "declare `pub metadata: ObjectMeta` with `use planesmith_machinery::meta::ObjectMeta;`";
    match structure.fields.iter().find(|field| field.ident == "metadata") {
        None => {
            let problem = format_args!("`{}` has no field `metadata`", structure.ident);
            diagnostics.report(structure.ident.span(), problem, declares);
        }
        Some(field) if field.name != "metadata" => {
            let problem = format_args!("the field `metadata` cannot be called \"{}\" in JSON", field.name);
            diagnostics.report(field.ident.span(), problem, "remove `name` and `inline` from it");
        }
        Some(field) if !matches!(field.shape, TypeRef::Named(_)) => {
            let problem = "the field `metadata` must be an `ObjectMeta`";
            diagnostics.report(field.ident.span(), problem, declares);
        }
        Some(_) => {}
    }
    for field in structure
        .fields
        .iter()
        .filter(|field| ["kind", "apiVersion"].contains(&field.name.as_str()))
    {
        let problem = format_args!("the derive writes \"{}\" itself", field.name);
        diagnostics.report(field.ident.span(), problem, "remove the field");
    }
}

fn conversion(attrs: &ResourceAttrs, structure: &StructModel, diagnostics: &Diagnostics) {
    if attrs.keys.iter().any(|key| key == "storage_version") {
        if let Some(path) = attrs
            .storage_version
            .as_ref()
            .filter(|path| path.is_ident(&structure.ident))
        {
            let ident = &path.segments[0].ident;
            let problem = format_args!("`{ident}` cannot be its own `storage_version`");
            let help = "remove the key: a kind without it is the storage version";
            diagnostics.report(ident.span(), problem, help);
        }
        return;
    }
    if let Some(convert) = attrs.convert {
        let problem = "`convert` contradicts the absence of `storage_version`";
        diagnostics.report(
            convert,
            problem,
            "add `storage_version = super::v1::Order`, or remove `convert`",
        );
    }
    for field in structure.fields.iter().filter(|field| field.moved_to.is_some()) {
        let problem = "`moved_to` is for fields of a kind with `storage_version`";
        diagnostics.report(
            field.ident.span(),
            problem,
            "remove `moved_to`, or add `storage_version` to the kind",
        );
    }
}

/// Refuses keys that only make sense for stored objects.
fn storage(attrs: &ResourceAttrs, diagnostics: &Diagnostics) {
    let unstored = [("create_only", attrs.create_only), ("read_only", attrs.read_only)];
    let Some(first) = unstored.iter().find_map(|(key, at)| at.map(|_| *key)) else {
        return;
    };
    let others = [
        ("read_only", attrs.read_only.filter(|_| first != "read_only")),
        ("status", attrs.status),
        ("scale", attrs.scale.as_ref().map(|scale| scale.span)),
    ];
    for (key, at) in others {
        if let Some(at) = at {
            diagnostics.report(at, format_args!("`{key}` contradicts `{first}`"), "remove one");
        }
    }
}

/// Returns the declared subresources, sorted as in discovery.
fn subresources(attrs: &ResourceAttrs, structure: &StructModel, diagnostics: &Diagnostics) -> Vec<Subresource> {
    let mut found = Vec::new();
    if let Some(status) = attrs.status {
        if !structure.fields.iter().any(|field| field.name == "status") {
            let problem = format_args!(
                "`status` needs a field `status`, which `{}` does not have",
                structure.ident
            );
            diagnostics.report(status, problem, "add `pub status: ...`, or remove the key");
        }
        found.push(Subresource {
            name: "status".to_owned(),
            kind: SubresourceKind::Status,
        });
    }
    if let Some(scale) = &attrs.scale {
        let kind = SubresourceKind::Scale(scale_model(scale, structure, diagnostics));
        found.push(Subresource {
            name: "scale".to_owned(),
            kind,
        });
    }
    for other in &attrs.subresources {
        if ["status", "scale"].contains(&other.value.as_str()) {
            let problem = format_args!("\"{}\" has a key of its own", other.value);
            let help = if other.value == "status" {
                "`status`"
            } else {
                "`scale(spec = ..., status = ...)`"
            };
            diagnostics.report(other.span, problem, format_args!("write {help} instead"));
            continue;
        }
        legal(
            Some(other),
            "the name of a subresource",
            names::resource_problem,
            diagnostics,
        );
        found.push(Subresource {
            name: other.value.clone(),
            kind: SubresourceKind::Other,
        });
    }
    repeated(&attrs.subresources, "subresource", diagnostics);
    found.sort_by(|left, right| left.name.cmp(&right.name));
    found
}

fn scale_model(scale: &ScaleAttrs, structure: &StructModel, diagnostics: &Diagnostics) -> ScaleModel {
    for (key, example) in [
        ("spec", "spec = \"spec.replicas\""),
        ("status", "status = \"status.replicas\""),
    ] {
        if !scale.keys.iter().any(|met| met == key) {
            let problem = format_args!("`scale` needs `{key}`");
            diagnostics.report(scale.span, problem, format_args!("add `{example}`"));
        }
    }
    let dotted = |given: &Option<Spanned<String>>| {
        let Some(given) = given else {
            return String::new();
        };
        path::names_a_field(given, structure, diagnostics);
        given.value.clone()
    };
    ScaleModel {
        spec_replicas: dotted(&scale.spec),
        status_replicas: dotted(&scale.status),
        selector: dotted(&scale.selector),
    }
}
