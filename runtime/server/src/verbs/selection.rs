//! Selection of the objects of a list or watch.

use planesmith_machinery::facts::{FieldFacts, StructFacts, TypeFacts};
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::selector::{FieldQuery, LabelQuery};
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_store::{Entry, RowRef};

use crate::options::ListOptions;
use crate::representation;
use crate::stores::{ResourceStore, texts_at};

/// Selects the objects of a list or watch: its selectors, compiled to positions in rows.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    labels: LabelQuery,
    fields: Vec<Term>,
    /// The only name that can match, if the selectors determine one.
    name: Option<String>,
    /// True if rows alone do not decide for every object: see [`Selection::reads_objects`].
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

/// The source of a field's value.
#[derive(Clone, Debug)]
enum Source {
    Name,
    Namespace,
    /// Positions in the row: the first value that is not empty counts. Without positions the value is empty.
    Row(Vec<usize>),
}

impl Selection {
    /// Compiles the selectors of `options` on objects of `facts`; `path_name` is the name that the path requires or a
    /// selector was authorized for, or empty.
    ///
    /// # Errors
    ///
    /// 400 when a selector cannot be used.
    pub(crate) fn new(options: &ListOptions<'_>, facts: &ResourceFacts, path_name: &str) -> ApiResult<Self> {
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
        let rows_decide = representation::of(facts).rows_decide();
        let reads_objects = !rows_decide && fields.iter().any(|term| matches!(term.source, Source::Row(_)));
        Ok(Self {
            labels,
            fields,
            name,
            reads_objects,
        })
    }

    /// True if all objects are selected.
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// The common prefix of the keys of all selected objects.
    pub(crate) fn prefix(&self, store: &ResourceStore, namespace: &str) -> String {
        let mut prefix = store.prefix(namespace);
        let one_place = !namespace.is_empty() || store.facts().scope == planesmith_machinery::resource::Scope::Cluster;
        if let Some(name) = self.name.as_deref().filter(|name| one_place && !name.contains('/')) {
            prefix.push_str(name);
        }
        prefix
    }

    /// True if fields of custom objects are selected, which differ between the versions of their kind: rows decide only
    /// about objects whose bytes are their JSON in the version of the endpoint.
    pub(crate) fn reads_objects(&self) -> bool {
        self.reads_objects
    }

    /// True if `entry` is selected.
    pub(crate) fn matches(&self, store: &ResourceStore, entry: &Entry) -> bool {
        let meets = |term: &Term| (field(store, entry, &term.source) == term.value) != term.negated;
        self.matches_labels(entry.row()) && self.fields.iter().all(meets)
    }

    /// True if `entry` is selected as far as its row decides for every version: by its labels, name and namespace.
    pub(crate) fn may_match(&self, store: &ResourceStore, entry: &Entry) -> bool {
        let meets = |term: &Term| match &term.source {
            Source::Row(_) => true,
            source => (field(store, entry, source) == term.value) != term.negated,
        };
        self.matches_labels(entry.row()) && self.fields.iter().all(meets)
    }

    /// True if `entry` is selected, whose JSON in the version of the endpoint is `json`.
    pub(crate) fn matches_json(&self, store: &ResourceStore, entry: &Entry, json: &[u8]) -> bool {
        let terms = || self.fields.iter().filter(|term| matches!(term.source, Source::Row(_)));
        let paths: Vec<&str> = terms().map(|term| term.path.as_str()).collect();
        let values = texts_at(json, &paths);
        let meets = |(term, value): (&Term, &String)| (*value == term.value) != term.negated;
        self.may_match(store, entry) && terms().zip(&values).all(meets)
    }

    fn matches_labels(&self, row: RowRef<'_>) -> bool {
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

/// The position, in rows of the storage version, of the field that is `path` in `facts`.
fn source(facts: &ResourceFacts, path: &str) -> Source {
    match path {
        "metadata.name" => Source::Name,
        "metadata.namespace" => Source::Namespace,
        path => {
            let hub = facts.hub();
            let position = |stored: &str| hub.selected_paths().position(|known| known == stored);
            Source::Row(match facts.field_alias(path) {
                Some(alias) => alias.paths.iter().filter_map(|path| position(path)).collect(),
                None => position(&stored_path(facts, path)).into_iter().collect(),
            })
        }
    }
}

/// The path of the same field in the storage version.
fn stored_path(facts: &ResourceFacts, path: &str) -> String {
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
