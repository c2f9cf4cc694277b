use std::collections::BTreeMap;

use planesmith_clock::{Clock, SystemClock};
use planesmith_wire::quantity::Quantity;
use planesmith_wire::time::Time;

use super::*;
use crate::age;
use crate::meta::{ListMeta, ObjectMeta};
use crate::resource::object::Resource as _;
use crate::{Resource, Struct};

/// Content.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    /// A number.
    size: Option<i32>,
    /// An amount.
    amount: Option<Quantity>,
    /// Texts.
    texts: BTreeMap<String, String>,
    /// Start time.
    since: Option<Time>,
    /// A fraction.
    share: f64,
    /// A switch.
    on: bool,
}

/// A kind with columns.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "test.example.com",
    version = "v1",
    kind = "Printed",
    plural = "printed",
    column(name),
    column(name = "Size", type = "integer", doc = "How big.", path = "spec.size"),
    column(name = "Amount", type = "string", doc = "How much.", path = "spec.amount"),
    column(name = "Note", type = "string", doc = "A text.", priority = 1, path = "spec.texts.a.b"),
    column(name = "Since", type = "date", doc = "When.", path = "spec.since"),
    column(name = "Share", type = "number", doc = "A part.", path = "spec.share"),
    column(name = "On", type = "boolean", doc = "Whether.", path = "spec.on"),
    column(name = "Count", type = "integer", doc = "How many.", with = count),
    column(age)
)]
struct Printed {
    /// Metadata.
    metadata: ObjectMeta,
    /// Content.
    spec: Spec,
}

fn count(printed: &Printed) -> Cell {
    Cell::Integer(i64::try_from(printed.spec.texts.len()).unwrap_or(i64::MAX))
}

/// A kind without columns.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "test.example.com", version = "v1", kind = "Plain", plural = "plains")]
struct Plain {
    /// Metadata.
    metadata: ObjectMeta,
}

fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}

#[test]
fn cells_follow_paths_and_types() {
    let mut printed = Printed::default();
    printed.metadata.name = "a".to_owned();
    let absent = [
        text("a"),
        Cell::Null,
        Cell::Null,
        Cell::Null,
        Cell::Null,
        Cell::Number(0.0),
        Cell::Bool(false),
        Cell::Integer(0),
        text("<unknown>"),
    ];
    assert_eq!(cells(&printed), absent);
    printed.metadata.creation_timestamp = Time::from_second(1_700_000_000);
    printed.spec.size = Some(3);
    printed.spec.amount = "1500m".parse().ok();
    printed.spec.texts.insert("a.b".to_owned(), "t".to_owned());
    printed.spec.since = Some(Time::from_second(1_700_007_200));
    let cells = cells(&printed);
    let age_of = |time: Time| age::cell(time.timestamp());
    let since = age_of(Time::from_second(1_700_007_200));
    assert_eq!(cells[1..5], [Cell::Integer(3), text("1500m"), text("t"), since]);
    assert_eq!(cells[7], Cell::Integer(1));
    assert_eq!(cells[8], age_of(printed.metadata.creation_timestamp));
}

#[test]
fn table_of_a_kind_without_columns_shows_name_and_age() {
    let meta = ListMeta {
        resource_version: "7".to_owned(),
        ..ListMeta::default()
    };
    let mut table = TableWriter::new(Plain::RESOURCE, &meta, SystemClock.now().into(), false);
    let plain = Plain {
        metadata: ObjectMeta {
            name: "p".to_owned(),
            ..ObjectMeta::default()
        },
    };
    table.row(&plain, &plain, RowObject::Nothing);
    table.row(&plain, &plain, RowObject::Metadata);
    table.row(&plain, &plain, RowObject::Object);
    let expected = concat!(
        r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"columnDefinitions":null,"rows":["#,
        r#"{"cells":["p","\u003cunknown\u003e"],"object":null},"#,
        r#"{"cells":["p","\u003cunknown\u003e"],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"p"}}},"#,
        r#"{"cells":["p","\u003cunknown\u003e"],"object":{"kind":"Plain","apiVersion":"test.example.com/v1","metadata":{"name":"p"}}}]}"#,
    );
    assert_eq!(String::from_utf8_lossy(&table.finish()), expected);
}

#[test]
fn table_without_rows_has_columns() {
    let table = TableWriter::new(Printed::RESOURCE, &ListMeta::default(), Time::ZERO, true).finish();
    let table: serde_json::Value = serde_json::from_slice(&table).expect("JSON");
    assert_eq!(table["rows"], serde_json::json!([]));
    assert_eq!(table["columnDefinitions"].as_array().map(Vec::len), Some(9));
    let note =
        serde_json::json!({"name": "Note", "type": "string", "format": "", "description": "A text.", "priority": 1});
    assert_eq!(table["columnDefinitions"][3], note);
}

/// A word.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Word {
    /// Kind of the word.
    kind: String,
    /// Text of the word.
    text: String,
}

/// A kind whose columns select values by a sibling field.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "test.example.com",
    version = "v1",
    kind = "Sentence",
    plural = "sentence",
    column(name = "Second", type = "string", path = "words[?(@.kind==\"second\")].text"),
    column(name = "All", type = "string", path = "words[*].kind"),
    column(name = "Dotted", type = "string", path = "metadata.labels.a\\.b"),
    column(name = "Count", type = "integer", path = "words[0]")
)]
struct Sentence {
    /// Metadata.
    metadata: ObjectMeta,
    /// Words.
    words: Vec<Word>,
}

#[test]
fn cells_of_declared_kinds_follow_paths_in_the_notation_of_kubectl() {
    let mut sentence = Sentence::default();
    assert_eq!(cells(&sentence), [Cell::Null, Cell::Null, Cell::Null, Cell::Null]);
    let word = |kind: &str, text: &str| Word {
        kind: kind.to_owned(),
        text: text.to_owned(),
    };
    sentence.words = vec![word("first", "one"), word("second", "two")];
    sentence.metadata.labels.insert("a.b".to_owned(), "c".to_owned());
    assert_eq!(cells(&sentence), [text("two"), text("first"), text("c"), Cell::Null]);
}
