//! Which objects a list or watch is about.

use planesmith_machinery::facts::{FieldFacts, StructFacts, TypeFacts};
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::selector::{FieldQuery, LabelQuery};
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_store::{Entry, Row};

use super::options::ListOptions;
use crate::stores::{ResourceStore, texts_at};

/// Which objects a list or watch is about: what its selectors say, compiled to places in rows.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    labels: LabelQuery,
    fields: Vec<Term>,
    /// The one name that can match, when there is one.
    name: Option<String>,
    /// Rows do not decide about every object: see [`Selection::reads_objects`].
    reads_objects: bool,
}

#[derive(Debug)]
struct Term {
    source: Source,
    /// The path in the version of the endpoint.
    path: String,
    value: String,
    negated: bool,
}

/// Where the value of a field is found.
#[derive(Clone, Debug)]
enum Source {
    Name,
    Namespace,
    /// Positions in the row: the first that is not empty counts. Without any the value is empty.
    Row(Vec<usize>),
}

impl Selection {
    /// Compiles the selectors of `options` on objects of `facts`; `path_name` is the name that the path demands
    /// or a selector was authorized for, or empty.
    ///
    /// # Errors
    ///
    /// 400 when a selector cannot be used.
    pub(crate) fn new(options: &ListOptions<'_>, facts: &'static ResourceFacts, path_name: &str) -> ApiResult<Self> {
        let labels = LabelQuery::parse(&options.label_selector);
        let labels = labels.map_err(|error| ApiError::bad_request(error.to_string()))?;
        let query = FieldQuery::parse_for(&options.field_selector, facts);
        let query = query.map_err(|error| ApiError::bad_request(error.to_string()))?;
        let mut name = query.exact("metadata.name").map(str::to_owned);
        if !path_name.is_empty() {
            if !query.is_empty() && name.as_deref() != Some(path_name) {
                return Err(ApiError::bad_request(
                    "fieldSelector metadata.name doesn't match requested name",
                ));
            }
            name = Some(path_name.to_owned());
        }
        let mut fields: Vec<Term> = query
            .terms()
            .iter()
            .map(|term| Term {
                source: source(facts, &term.field),
                path: term.field.clone(),
                value: term.value.clone(),
                negated: term.negated,
            })
            .collect();
        if !path_name.is_empty() && query.is_empty() {
            fields.push(Term {
                source: Source::Name,
                path: "metadata.name".to_owned(),
                value: path_name.to_owned(),
                negated: false,
            });
        }
        let reads_objects = facts.custom.is_some() && fields.iter().any(|term| matches!(term.source, Source::Row(_)));
        Ok(Self {
            labels,
            fields,
            name,
            reads_objects,
        })
    }

    /// Whether every object is meant.
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// What the keys of everything that is meant start with.
    pub(crate) fn prefix(&self, store: &ResourceStore, namespace: &str) -> String {
        let mut prefix = store.prefix(namespace);
        let one_place = !namespace.is_empty() || store.facts().scope == planesmith_machinery::resource::Scope::Cluster;
        if let Some(name) = self.name.as_deref().filter(|name| one_place && !name.contains('/')) {
            prefix.push_str(name);
        }
        prefix
    }

    /// True if fields of custom objects are meant, which each version of their kind has of its own: rows decide only about
    /// objects whose bytes are their JSON in the version of the endpoint.
    pub(crate) fn reads_objects(&self) -> bool {
        self.reads_objects
    }

    /// Whether `entry` is meant.
    pub(crate) fn matches(&self, store: &ResourceStore, entry: &Entry) -> bool {
        let meets = |term: &Term| (field(store, entry, &term.source) == term.value) != term.negated;
        self.matches_labels(entry.row()) && self.fields.iter().all(meets)
    }

    /// True if `entry` is meant as far as its row tells in every version: by its labels, name and namespace.
    pub(crate) fn may_match(&self, store: &ResourceStore, entry: &Entry) -> bool {
        let meets = |term: &Term| match &term.source {
            Source::Row(_) => true,
            source => (field(store, entry, source) == term.value) != term.negated,
        };
        self.matches_labels(entry.row()) && self.fields.iter().all(meets)
    }

    /// True if `entry` is meant, whose JSON in the version of the endpoint is `json`.
    pub(crate) fn matches_json(&self, store: &ResourceStore, entry: &Entry, json: &[u8]) -> bool {
        let terms = || self.fields.iter().filter(|term| matches!(term.source, Source::Row(_)));
        let paths: Vec<&str> = terms().map(|term| term.path.as_str()).collect();
        let values = texts_at(json, &paths);
        let meets = |(term, value): (&Term, &String)| (*value == term.value) != term.negated;
        self.may_match(store, entry) && terms().zip(&values).all(meets)
    }

    fn matches_labels(&self, row: &Row) -> bool {
        self.labels.is_empty() || self.labels.matches(|key| row.label(key))
    }
}

fn field<'e>(store: &ResourceStore, entry: &'e Entry, source: &Source) -> &'e str {
    match source {
        Source::Name => store.names(entry.key()).1,
        Source::Namespace => store.names(entry.key()).0,
        Source::Row(positions) => {
            let mut values = positions.iter().filter_map(|position| entry.row().field(*position));
            values.find(|value| !value.is_empty()).unwrap_or_default()
        }
    }
}

/// Where rows, which are of the storage version, hold the field that `facts` call `path`.
fn source(facts: &'static ResourceFacts, path: &str) -> Source {
    match path {
        "metadata.name" => Source::Name,
        "metadata.namespace" => Source::Namespace,
        path => {
            let position = |stored: &str| facts.selected_paths().position(|known| known == stored);
            Source::Row(match facts.field_alias(path) {
                Some(alias) => alias.paths.iter().filter_map(|path| position(path)).collect(),
                None => position(&stored_path(facts, path)).into_iter().collect(),
            })
        }
    }
}

/// The path of the same field in the storage version.
fn stored_path(facts: &'static ResourceFacts, path: &str) -> String {
    let mut level = Some(facts.fields());
    let mut stored = String::new();
    for name in path.split('.') {
        let found = level.and_then(|level| field_of(level, name));
        match found.and_then(|found| found.moved_to) {
            Some(place) => place.clone_into(&mut stored),
            None => {
                if !stored.is_empty() {
                    stored.push('.');
                }
                stored.push_str(name);
            }
        }
        level = match found.map(|found| found.ty.present()) {
            Some(TypeFacts::Struct(inner)) => Some(inner()),
            _ => None,
        };
    }
    stored
}

fn field_of(level: &'static StructFacts, name: &str) -> Option<&'static FieldFacts> {
    level.fields.iter().find_map(|field| match field.ty.present() {
        _ if field.name == name => Some(field),
        TypeFacts::Struct(inner) if field.inline => field_of(inner(), name),
        _ => None,
    })
}
