//! Label and field selectors, and paths in documents.

use std::collections::BTreeSet;

use planesmith_machinery::json_path::{self, JsonPath};
use planesmith_machinery::selector::{FieldQuery, LabelQuery};
use serde_json::json;

/// Writing a label selector and parsing it again preserves its meaning; no input causes a panic.
pub(crate) fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    if let Ok(query) = LabelQuery::parse(text) {
        let shown = query.to_string();
        let again = LabelQuery::parse(&shown);
        assert_eq!(again.as_ref(), Ok(&query), "{shown}");
        query.matches(|key| (key.len() < 4).then_some("1"));
    }
    if let Ok(query) = FieldQuery::parse(text) {
        let shown = query.to_string();
        let again = FieldQuery::parse(&shown).expect("what is shown is read");
        assert_eq!(terms(&again), terms(&query), "{shown}");
        query.matches(|field| (field.len() < 4).then_some("1"));
    }
    if let Ok(path) = JsonPath::parse(text) {
        let document = json!({"a": [{"b": 1, "c": "x"}, {"b": 2}], "d": {"e": [0, 1, 2, 3]}});
        if let Ok(found) = path.find(&document) {
            found.into_iter().for_each(|value| drop(json_path::print(value)));
        }
    }
}

/// Returns the terms as sorted in the source, which differs from the rendered order.
fn terms(query: &FieldQuery) -> BTreeSet<(&str, &str, bool)> {
    let terms = query.terms().iter();
    terms
        .map(|term| (term.field.as_str(), term.value.as_str(), term.negated))
        .collect()
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "env=prod,tier in (a,b),!debug,x notin (1),n>5,m<3,y==z,w!=v",
        "example.com/name in (,a)",
        "a,b",
        "metadata.name=a,status.phase!=Running",
        "a=\\,\\=\\\\,b==c",
        ".spec.containers[*].name",
        "{.items[?(@.a==1)].b}",
        ".a[-1:].b['c']",
        "..name",
        ".metadata.annotations.example\\.com/x",
        "[0:3:2][?(@.b>1 && @.c)]",
    ];
    texts.map(|text| text.as_bytes().to_vec()).into()
}
