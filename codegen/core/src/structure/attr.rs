//! Parses `#[schema(...)]` and `#[field(...)]`.

use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Field, Fields, Token};

use crate::diagnostics::Diagnostics;
use crate::keys::{Entry, Grammar, Spanned, Texts, of_attributes};

/// The help text for descriptions.
const DOC: &str = "write the description as a doc comment";

const SCHEMA: Grammar = Grammar {
    usage: "#[schema(...)]",
    once: &["name", "atomic", "union", "type_meta", "internal"],
    repeated: &[],
    instead: &[("doc", DOC), ("description", DOC)],
};

const FIELD: Grammar = Grammar {
    usage: "#[field(...)]",
    once: &[
        "name",
        "proto",
        "keep",
        "omit_zero",
        "inline",
        "required",
        "expected",
        "optional",
        "default",
        "one_of",
        "known",
        "minimum",
        "maximum",
        "min_length",
        "max_length",
        "pattern",
        "each",
        "immutable",
        "unique",
        "list_type",
        "list_map_keys",
        "atomic",
        "granular",
        "patch_strategy",
        "patch_merge_key",
        "moved_to",
        "discriminator",
        "go_name",
        "go_type",
    ],
    repeated: &[],
    instead: &[
        ("doc", DOC),
        ("description", DOC),
        ("rename", "write `name = \"...\"`"),
        ("enum", "write `one_of(\"A\", \"B\")`"),
        ("items", "write `each(...)` with the constraints of the elements"),
        ("skip", "fields that are not part of the API belong into another struct"),
    ],
};

const EACH: Grammar = Grammar {
    usage: "each(max_length = 63)",
    once: &[
        "one_of",
        "minimum",
        "maximum",
        "min_length",
        "max_length",
        "pattern",
        "each",
    ],
    repeated: &[],
    instead: &[(
        "known",
        "write `known(...)` beside `each`: it is about the texts in a list or map",
    )],
};

/// The values of `list_type`, in the order of [`ListWord`].
const LIST_TYPES: &[&str] = &["atomic", "set", "map"];

/// The values of `patch_strategy`.
const PATCH_STRATEGIES: &[&str] = &["merge", "retain_keys", "replace"];

/// The attributes of a struct and of its fields, as written.
#[derive(Debug, Default)]
pub(crate) struct StructAttrs {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) atomic: bool,
    pub(crate) union: Option<Span>,
    pub(crate) type_meta: Option<Spanned<Vec<Spanned<String>>>>,
    pub(crate) internal: Option<syn::Path>,
    pub(crate) fields: Vec<FieldAttrs>,
}

/// One `#[field(...)]`, as written; flags are the spans of their keys.
#[derive(Debug, Default)]
pub(crate) struct FieldAttrs {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) proto: Option<Spanned<u32>>,
    pub(crate) keep: Option<Span>,
    pub(crate) omit_zero: Option<Span>,
    pub(crate) inline: Option<Span>,
    pub(crate) required: Option<Span>,
    pub(crate) expected: Option<Span>,
    pub(crate) optional: Option<Span>,
    pub(crate) default: Option<Spanned<String>>,
    pub(crate) bounds: Bounds,
    pub(crate) immutable: Option<Span>,
    pub(crate) unique: Option<Span>,
    pub(crate) list_type: Option<Spanned<ListWord>>,
    /// True if `list_type` is present, even with an invalid value.
    pub(crate) has_list_type: bool,
    pub(crate) list_map_keys: Option<Spanned<Vec<Spanned<String>>>>,
    pub(crate) atomic: Option<Span>,
    pub(crate) granular: Option<Span>,
    pub(crate) patch_strategy: Option<Spanned<Strategy>>,
    pub(crate) patch_merge_key: Option<Spanned<String>>,
    pub(crate) moved_to: Option<Spanned<String>>,
    pub(crate) discriminator: Option<Span>,
    pub(crate) go_name: Option<Spanned<String>>,
    pub(crate) go_type: Option<Spanned<String>>,
}

/// The constraints of a field, or of its elements, as written.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    pub(crate) one_of: Option<Spanned<Vec<Spanned<String>>>>,
    pub(crate) known: Option<Spanned<Texts>>,
    pub(crate) minimum: Option<Spanned<i64>>,
    pub(crate) maximum: Option<Spanned<i64>>,
    pub(crate) min_length: Option<Spanned<u64>>,
    pub(crate) max_length: Option<Spanned<u64>>,
    pub(crate) pattern: Option<Spanned<String>>,
    pub(crate) each: Option<Spanned<Box<Bounds>>>,
}

/// The value of `list_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListWord {
    Atomic,
    Set,
    Map,
}

/// The values of `patch_strategy(...)`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Strategy {
    pub(crate) merge: bool,
    pub(crate) retain_keys: bool,
    pub(crate) replace: bool,
}

impl StructAttrs {
    /// Parses the attributes of the struct and of its named fields, in order.
    pub(crate) fn read(input: &DeriveInput, diagnostics: &Diagnostics) -> Self {
        let mut attrs = Self::default();
        for entry in of_attributes(&input.attrs, "schema", &SCHEMA, diagnostics) {
            match entry.key.as_str() {
                "name" => attrs.name = entry.text("PodSpec", diagnostics),
                "atomic" => attrs.atomic = entry.flag(diagnostics).is_some(),
                "union" => attrs.union = entry.flag(diagnostics),
                "internal" => attrs.internal = entry.path("internal_layout::POD_SPEC", diagnostics),
                "type_meta" => {
                    let value = entry.texts("v1", diagnostics);
                    attrs.type_meta = Some(Spanned {
                        value,
                        span: entry.span,
                    });
                }
                _ => {}
            }
        }
        let fields = named_fields(input).into_iter().flatten();
        attrs.fields = fields
            .map(|field| FieldAttrs::read(&field.attrs, diagnostics))
            .collect();
        attrs
    }
}

impl FieldAttrs {
    fn read(attrs: &[Attribute], diagnostics: &Diagnostics) -> Self {
        let mut field = Self::default();
        for entry in of_attributes(attrs, "field", &FIELD, diagnostics) {
            match entry.key.as_str() {
                "name" => field.name = entry.text("clusterIP", diagnostics),
                "proto" => field.proto = entry.integer(diagnostics),
                "keep" => field.keep = entry.flag(diagnostics),
                "omit_zero" => field.omit_zero = entry.flag(diagnostics),
                "inline" => field.inline = entry.flag(diagnostics),
                "required" => field.required = entry.flag(diagnostics),
                "expected" => field.expected = entry.flag(diagnostics),
                "optional" => field.optional = entry.flag(diagnostics),
                "default" => field.default = entry.json(diagnostics),
                "immutable" => field.immutable = entry.flag(diagnostics),
                "unique" => field.unique = entry.flag(diagnostics),
                "list_type" => {
                    field.list_type = entry.word(LIST_TYPES, diagnostics).map(ListWord::at);
                    field.has_list_type = true;
                }
                "list_map_keys" => {
                    let value = entry.texts("name", diagnostics);
                    field.list_map_keys = Some(Spanned {
                        value,
                        span: entry.span,
                    });
                }
                "atomic" => field.atomic = entry.flag(diagnostics),
                "granular" => field.granular = entry.flag(diagnostics),
                "patch_strategy" => {
                    let words = entry.words(PATCH_STRATEGIES, diagnostics);
                    let has = |index| words.iter().any(|word| word.value == index);
                    let value = Strategy {
                        merge: has(0),
                        retain_keys: has(1),
                        replace: has(2),
                    };
                    field.patch_strategy = Some(Spanned {
                        value,
                        span: entry.span,
                    });
                }
                "patch_merge_key" => field.patch_merge_key = entry.text("name", diagnostics),
                "moved_to" => field.moved_to = entry.text("spec.newPlace", diagnostics),
                "discriminator" => field.discriminator = entry.flag(diagnostics),
                "go_name" => field.go_name = entry.text("CephMonitors", diagnostics),
                "go_type" => field.go_type = entry.text("PullPolicy", diagnostics),
                _ => field.bounds.take(&entry, diagnostics),
            }
        }
        field
    }
}

impl Bounds {
    /// Parses a key that constrains values; ignores other keys.
    fn take(&mut self, entry: &Entry, diagnostics: &Diagnostics) {
        let texts = || {
            Some(Spanned {
                value: entry.texts("Always", diagnostics),
                span: entry.span,
            })
        };
        match entry.key.as_str() {
            "one_of" => self.one_of = texts(),
            "known" => {
                let texts = entry.texts_or_path("Always", "POLICIES", diagnostics);
                self.known = texts.map(|value| Spanned {
                    value,
                    span: entry.span,
                });
            }
            "minimum" => self.minimum = entry.integer(diagnostics),
            "maximum" => self.maximum = entry.integer(diagnostics),
            "min_length" => self.min_length = entry.integer(diagnostics),
            "max_length" => self.max_length = entry.integer(diagnostics),
            "pattern" => self.pattern = entry.text("^[a-z]+$", diagnostics),
            "each" => {
                let nested = entry.nested(&EACH, diagnostics);
                self.each = nested.map(|entries| {
                    let mut bounds = Box::<Self>::default();
                    entries.iter().for_each(|entry| bounds.take(entry, diagnostics));
                    Spanned {
                        value: bounds,
                        span: entry.span,
                    }
                });
            }
            _ => {}
        }
    }
}

impl ListWord {
    /// Returns the word at an index of [`LIST_TYPES`].
    fn at(word: Spanned<usize>) -> Spanned<Self> {
        word.map(|index| [Self::Atomic, Self::Set, Self::Map][index])
    }
}

/// Returns the named fields of a struct; `None` for anything else.
pub(crate) fn named_fields(input: &DeriveInput) -> Option<&Punctuated<Field, Token![,]>> {
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => Some(&fields.named),
            Fields::Unnamed(_) | Fields::Unit => None,
        },
        Data::Enum(_) | Data::Union(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{FIELD, SCHEMA};

    #[test]
    fn every_key_has_a_heading_on_the_page_of_the_derive() {
        let page = include_str!("../../../docs/struct.md");
        for key in SCHEMA.once.iter().chain(FIELD.once) {
            assert!(page.contains(&format!("## `{key}")), "{key}");
        }
    }
}
