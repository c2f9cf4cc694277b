//! Parses `#[resource(...)]`.

use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::{DeriveInput, Path};

use super::model::{BehaviorModel, GenerationModel, NameRule};
use crate::diagnostics::Diagnostics;
use crate::keys::{Entry, Grammar, Spanned, of_attributes};
use crate::structure::attr::named_fields;

const RESOURCE: Grammar = Grammar {
    usage: "#[resource(...)]",
    once: &[
        "group",
        "version",
        "kind",
        "plural",
        "singular",
        "list",
        "storage_name",
        "hashed_version",
        "short",
        "categories",
        "cluster",
        "storage_version",
        "convert",
        "unserved",
        "deprecated",
        "feature",
        "status",
        "scale",
        "selectable",
        "name_rule",
        "generation",
        "create_on_update",
        "conditional_update",
        "returns_deleted",
        "no_delete_collection",
        "status_on_create",
        "create_only",
        "read_only",
        "resets",
        "status_resets",
        "rows_by",
        "partitioned_by",
        "is_namespace",
        "expires",
        "deleted_first",
        "strategy",
        "strategy_extensions",
    ],
    repeated: &["subresource", "column"],
    instead: &[
        (
            "namespaced",
            "remove it: objects are in namespaces unless `cluster` is written",
        ),
        (
            "scope",
            "write `cluster` for a kind without namespaces, and nothing for others",
        ),
        ("served", "remove it: a version is served unless `unserved` is written"),
        (
            "storage",
            "remove it: a version without `storage_version = ...` is the storage version",
        ),
        ("doc", "write the description as a doc comment"),
        ("description", "write the description as a doc comment"),
    ],
};

const SCALE: Grammar = Grammar {
    usage: "scale(spec = \"spec.replicas\", status = \"status.replicas\")",
    once: &["spec", "status", "selector"],
    repeated: &[],
    instead: &[],
};

const COLUMN: Grammar = Grammar {
    usage: "column(name = \"Data\", type = \"integer\", path = \"spec.size\")",
    once: &["name", "type", "format", "doc", "priority", "path", "with", "age"],
    repeated: &[],
    instead: &[],
};

/// The values of `name_rule`, in the order of [`NAME_RULES`].
const NAME_RULE_WORDS: &[&str] = &[
    "dns_subdomain",
    "dns_label",
    "dns_label_1035",
    "config_key",
    "path_segment",
    "whole_path_segment",
    "long_name",
    "ip_address",
    "of_strategy",
];
const NAME_RULES: [NameRule; 9] = [
    NameRule::DnsSubdomain,
    NameRule::DnsLabel,
    NameRule::DnsLabel1035,
    NameRule::ConfigKey,
    NameRule::PathSegment,
    NameRule::WholePathSegment,
    NameRule::LongName,
    NameRule::IpAddress,
    NameRule::OfStrategy,
];

/// The values of `generation`, in the order of [`GENERATIONS`]; the first one is that of the key alone.
const GENERATION_WORDS: &[&str] = &["content", "as_sent"];
const GENERATIONS: [GenerationModel; 2] = [GenerationModel::Content, GenerationModel::AsSent];

/// `#[resource(...)]`, as written; flags are the spans of their keys.
#[derive(Debug, Default)]
pub(crate) struct ResourceAttrs {
    /// The name of the attribute, to point at if a key is missing; `None` without an attribute.
    pub(crate) span: Option<Span>,
    pub(crate) group: Option<Spanned<String>>,
    pub(crate) version: Option<Spanned<String>>,
    pub(crate) kind: Option<Spanned<String>>,
    pub(crate) plural: Option<Spanned<String>>,
    pub(crate) singular: Option<Spanned<String>>,
    pub(crate) list: Option<Spanned<String>>,
    pub(crate) storage_name: Option<Spanned<String>>,
    pub(crate) hashed_version: Option<Spanned<String>>,
    pub(crate) short: Vec<Spanned<String>>,
    pub(crate) categories: Vec<Spanned<String>>,
    pub(crate) cluster: Option<Span>,
    pub(crate) storage_version: Option<Path>,
    pub(crate) convert: Option<Span>,
    pub(crate) unserved: Option<Span>,
    pub(crate) deprecated: Option<Spanned<String>>,
    pub(crate) feature: Option<Path>,
    pub(crate) status: Option<Span>,
    pub(crate) create_only: Option<Span>,
    pub(crate) read_only: Option<Span>,
    pub(crate) scale: Option<ScaleAttrs>,
    pub(crate) subresources: Vec<Spanned<String>>,
    pub(crate) selectable: Vec<Spanned<String>>,
    pub(crate) columns: Vec<ColumnAttrs>,
    pub(crate) name_rule: Option<NameRule>,
    pub(crate) behavior: BehaviorModel,
    pub(crate) resets: Vec<Spanned<String>>,
    pub(crate) status_resets: Vec<Spanned<String>>,
    pub(crate) rows_by: Option<Spanned<String>>,
    pub(crate) partitioned_by: Option<Spanned<String>>,
    pub(crate) strategy: bool,
    pub(crate) strategy_extensions: bool,
    /// The keys present, including those with invalid values, which do not count as missing.
    pub(crate) keys: Vec<String>,
}

/// `scale(...)`, as written.
#[derive(Debug)]
pub(crate) struct ScaleAttrs {
    pub(crate) span: Span,
    pub(crate) spec: Option<Spanned<String>>,
    pub(crate) status: Option<Spanned<String>>,
    pub(crate) selector: Option<Spanned<String>>,
    /// The keys present.
    pub(crate) keys: Vec<String>,
}

/// `column(...)`, as written.
#[derive(Debug)]
pub(crate) struct ColumnAttrs {
    pub(crate) span: Span,
    pub(crate) standard: Option<Standard>,
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) ty: Option<Spanned<String>>,
    pub(crate) format: Option<Spanned<String>>,
    pub(crate) doc: Option<Spanned<String>>,
    pub(crate) priority: Option<Spanned<i32>>,
    pub(crate) path: Option<Spanned<String>>,
    pub(crate) with: Option<Path>,
    /// The keys present, with their spans.
    pub(crate) keys: Vec<Spanned<String>>,
}

/// `column(name)` or `column(age)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standard {
    Name,
    Age,
}

impl ResourceAttrs {
    /// Parses all `#[resource(...)]` attributes of a struct.
    pub(crate) fn read(input: &DeriveInput, diagnostics: &Diagnostics) -> Self {
        let mut attrs = Self::default();
        let mut written = input.attrs.iter().filter(|attr| attr.path().is_ident("resource"));
        attrs.span = written.next().map(|attr| attr.path().span());
        misplaced(input, diagnostics);
        for entry in of_attributes(&input.attrs, "resource", &RESOURCE, diagnostics) {
            attrs.names(&entry, diagnostics);
            attrs.serving(&entry, diagnostics);
            attrs.flags(&entry, diagnostics);
            attrs.keys.push(entry.key);
        }
        attrs
    }

    fn names(&mut self, entry: &Entry, diagnostics: &Diagnostics) {
        match entry.key.as_str() {
            "group" => self.group = entry.text("shop.example.com", diagnostics),
            "version" => self.version = entry.text("v1", diagnostics),
            "kind" => self.kind = entry.text("Order", diagnostics),
            "plural" => self.plural = entry.text("orders", diagnostics),
            "singular" => self.singular = entry.text("order", diagnostics),
            "storage_name" => self.storage_name = entry.text("orders", diagnostics),
            "hashed_version" => self.hashed_version = entry.text("v1beta1", diagnostics),
            "list" => self.list = entry.text("OrderList", diagnostics),
            "short" => self.short = entry.texts("ord", diagnostics),
            "categories" => self.categories = entry.texts("all", diagnostics),
            "deprecated" => {
                self.deprecated = entry.text("example.com/v1beta1 Order is deprecated; use v1", diagnostics);
            }
            _ => {}
        }
    }

    fn serving(&mut self, entry: &Entry, diagnostics: &Diagnostics) {
        match entry.key.as_str() {
            "storage_version" => self.storage_version = entry.path("super::v1::Order", diagnostics),
            "feature" => self.feature = entry.path("crate::features::ORDERS", diagnostics),
            "scale" => {
                let nested = entry.nested(&SCALE, diagnostics);
                self.scale = nested.map(|entries| ScaleAttrs::read(entry.span, &entries, diagnostics));
            }
            "subresource" => self.subresources.extend(entry.text("log", diagnostics)),
            "selectable" => self.selectable = entry.texts("spec.nodeName", diagnostics),
            "resets" => self.resets = entry.texts("spec", diagnostics),
            "status_resets" => self.status_resets = entry.texts("metadata.labels", diagnostics),
            "partitioned_by" => self.partitioned_by = entry.text("spec.nodeName", diagnostics),
            "rows_by" => self.rows_by = entry.text("spec.priority", diagnostics),
            "column" => {
                let nested = entry.nested(&COLUMN, diagnostics);
                self.columns
                    .extend(nested.map(|entries| ColumnAttrs::read(entry.span, &entries, diagnostics)));
            }
            "generation" => {
                let word = match entry.is_alone() {
                    true => Some(GenerationModel::Content),
                    false => entry
                        .word(GENERATION_WORDS, diagnostics)
                        .map(|word| GENERATIONS[word.value]),
                };
                self.behavior.generation = word.unwrap_or_default();
            }
            "name_rule" => {
                self.name_rule = entry
                    .word(NAME_RULE_WORDS, diagnostics)
                    .map(|word| NAME_RULES[word.value]);
            }
            _ => {}
        }
    }

    fn flags(&mut self, entry: &Entry, diagnostics: &Diagnostics) {
        let behavior = &mut self.behavior;
        match entry.key.as_str() {
            "cluster" => self.cluster = entry.flag(diagnostics),
            "convert" => self.convert = entry.flag(diagnostics),
            "unserved" => self.unserved = entry.flag(diagnostics),
            "status" => self.status = entry.flag(diagnostics),
            "strategy" => self.strategy = entry.flag(diagnostics).is_some(),
            "strategy_extensions" => self.strategy_extensions = entry.flag(diagnostics).is_some(),
            "create_on_update" => behavior.create_on_update = entry.flag(diagnostics).is_some(),
            "conditional_update" => behavior.conditional_update = entry.flag(diagnostics).is_some(),
            "returns_deleted" => behavior.returns_deleted = entry.flag(diagnostics).is_some(),
            "no_delete_collection" => behavior.no_delete_collection = entry.flag(diagnostics).is_some(),
            "status_on_create" => behavior.status_on_create = entry.flag(diagnostics).is_some(),
            "is_namespace" => behavior.is_namespace = entry.flag(diagnostics).is_some(),
            "expires" => behavior.expires = entry.flag(diagnostics).is_some(),
            "deleted_first" => behavior.deleted_first = entry.flag(diagnostics).is_some(),
            "read_only" => self.read_only = entry.flag(diagnostics),
            "create_only" => self.create_only = entry.flag(diagnostics),
            _ => {}
        }
    }
}

/// Reports `#[resource(...)]` on fields, where it has no effect.
fn misplaced(input: &DeriveInput, diagnostics: &Diagnostics) {
    for attr in named_fields(input).into_iter().flatten().flat_map(|field| &field.attrs) {
        if attr.path().is_ident("resource") {
            let help = "write it above the struct; the keys of a field are written `#[field(...)]`";
            diagnostics.report(attr.path().span(), "`#[resource(...)]` is not for fields", help);
        }
    }
}

impl ScaleAttrs {
    fn read(span: Span, entries: &[Entry], diagnostics: &Diagnostics) -> Self {
        let text = |key: &str, example: &str| {
            let entry = entries.iter().find(|entry| entry.key == key)?;
            entry.text(example, diagnostics)
        };
        Self {
            span,
            spec: text("spec", "spec.replicas"),
            status: text("status", "status.replicas"),
            selector: text("selector", "status.selector"),
            keys: entries.iter().map(|entry| entry.key.clone()).collect(),
        }
    }
}

impl ColumnAttrs {
    fn read(span: Span, entries: &[Entry], diagnostics: &Diagnostics) -> Self {
        let entry = |key: &str| entries.iter().find(|entry| entry.key == key);
        let text = |key: &str, example: &str| entry(key)?.text(example, diagnostics);
        let standard = match entry("age") {
            Some(age) => age.flag(diagnostics).map(|_| Standard::Age),
            None => entry("name").filter(|name| name.is_alone()).map(|_| Standard::Name),
        };
        Self {
            span,
            name: if standard == Some(Standard::Name) {
                None
            } else {
                text("name", "Data")
            },
            standard,
            ty: text("type", "string"),
            format: text("format", "int32"),
            doc: text("doc", "Size in bytes."),
            priority: entry("priority").and_then(|entry| entry.integer(diagnostics)),
            path: text("path", "spec.size"),
            with: entry("with").and_then(|entry| entry.path("size_cell", diagnostics)),
            keys: entries
                .iter()
                .map(|entry| Spanned {
                    value: entry.key.clone(),
                    span: entry.span,
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RESOURCE;

    #[test]
    fn every_key_has_a_heading_on_the_page_of_the_derive() {
        let page = include_str!("../../../docs/resource.md");
        for key in RESOURCE.once.iter().chain(RESOURCE.repeated) {
            assert!(page.contains(&format!("## `{key}")), "{key}");
        }
    }
}
