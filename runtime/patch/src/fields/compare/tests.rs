use std::collections::BTreeMap;

use planesmith_machinery::Struct;

use super::*;

/// A port.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Port {
    /// Number.
    number: i32,
    /// Protocol.
    #[field(default = "TCP")]
    protocol: String,
    /// Name.
    name: String,
}

/// A small struct.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Empty {
    /// Anything.
    anything: String,
}

/// Every kind of field.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Sample {
    /// Text.
    text: String,
    /// A number that may be absent.
    number: Option<i32>,
    /// Entries.
    data: BTreeMap<String, String>,
    /// Entries that go together.
    #[field(atomic)]
    whole: BTreeMap<String, String>,
    /// Elements by keys.
    #[field(list_type = map, list_map_keys("number", "protocol"))]
    ports: Vec<Port>,
    /// Elements by value.
    #[field(list_type = set)]
    names: Vec<String>,
    /// A list that declares nothing.
    args: Vec<String>,
    /// A list that only declares how patches merge it.
    #[field(patch_strategy(merge), patch_merge_key = "name")]
    merged: Vec<Port>,
    /// A struct that may be absent.
    pointer: Option<Empty>,
    /// A struct that is always there.
    spec: Empty,
}

fn json(set: &Set<'_>) -> String {
    let mut out = Vec::new();
    set.write_json(&mut out);
    String::from_utf8(out).expect("JSON is UTF-8")
}

fn check(old: &Sample, new: &Sample, removed: &str, modified: &str, added: &str) {
    let comparison = compare(old, new, &Ignored::NOTHING);
    let found = (
        json(&comparison.removed),
        json(&comparison.modified),
        json(&comparison.added),
    );
    assert_eq!(found, (removed.to_owned(), modified.to_owned(), added.to_owned()));
}

fn port(number: i32, name: &str) -> Port {
    Port {
        number,
        name: name.to_owned(),
        ..Port::default()
    }
}

fn map(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
    entries
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

#[test]
fn new_map_is_added_with_its_entries() {
    let new = Sample {
        data: map(&[("a", "1")]),
        whole: map(&[("b", "1")]),
        ..Sample::default()
    };
    check(
        &Sample::default(),
        &new,
        "{}",
        "{}",
        r#"{"f:data":{".":{},"f:a":{}},"f:whole":{}}"#,
    );
    check(
        &new,
        &Sample::default(),
        r#"{"f:data":{".":{},"f:a":{}},"f:whole":{}}"#,
        "{}",
        "{}",
    );
}

#[test]
fn entries_change_one_by_one_unless_the_map_is_atomic() {
    let old = Sample {
        data: map(&[("a", "1"), ("b", "1"), ("c", "1")]),
        whole: map(&[("a", "1")]),
        ..Sample::default()
    };
    let new = Sample {
        data: map(&[("b", "2"), ("c", "1"), ("d", "1")]),
        whole: map(&[("z", "1")]),
        ..Sample::default()
    };
    check(
        &old,
        &new,
        r#"{"f:data":{"f:a":{}}}"#,
        r#"{"f:data":{"f:b":{}},"f:whole":{}}"#,
        r#"{"f:data":{"f:d":{}}}"#,
    );
}

#[test]
fn keyed_elements_are_told_apart_by_keys_and_their_defaults() {
    let old = Sample {
        ports: vec![port(80, "a"), port(81, "b")],
        ..Sample::default()
    };
    let mut new = Sample {
        ports: vec![port(81, "c"), port(82, "d")],
        ..Sample::default()
    };
    new.ports[0].protocol = "TCP".to_owned();
    check(
        &old,
        &new,
        r#"{"f:ports":{"k:{\"number\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:number":{}}}}"#,
        r#"{"f:ports":{"k:{\"number\":81,\"protocol\":\"TCP\"}":{"f:name":{}}}}"#,
        r#"{"f:ports":{"k:{\"number\":81,\"protocol\":\"TCP\"}":{"f:protocol":{}},"k:{\"number\":82,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:number":{}}}}"#,
    );
}

#[test]
fn sets_change_by_value_and_other_lists_as_a_whole() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let old = Sample {
        names: names(&["a", "b"]),
        args: names(&["a"]),
        ..Sample::default()
    };
    let new = Sample {
        names: names(&["b", "c"]),
        args: names(&["a", "b"]),
        ..Sample::default()
    };
    check(
        &old,
        &new,
        r#"{"f:names":{"v:\"a\"":{}}}"#,
        r#"{"f:args":{}}"#,
        r#"{"f:names":{"v:\"c\"":{}}}"#,
    );
}

#[test]
fn merge_key_of_patches_tells_elements_apart_too() {
    let new = Sample {
        merged: vec![port(1, "x")],
        ..Sample::default()
    };
    let added = r#"{"f:merged":{".":{},"k:{\"name\":\"x\"}":{".":{},"f:name":{},"f:number":{}}}}"#;
    check(&Sample::default(), &new, "{}", "{}", added);
}

#[test]
fn empty_struct_behind_a_pointer_counts_and_an_embedded_one_does_not() {
    let mut new = Sample {
        pointer: Some(Empty::default()),
        number: Some(0),
        ..Sample::default()
    };
    check(
        &Sample::default(),
        &new,
        "{}",
        "{}",
        r#"{"f:number":{},"f:pointer":{}}"#,
    );
    let old = new.clone();
    new.pointer = Some(Empty {
        anything: "x".to_owned(),
    });
    new.spec.anything = "y".to_owned();
    check(
        &old,
        &new,
        "{}",
        "{}",
        r#"{"f:pointer":{"f:anything":{}},"f:spec":{"f:anything":{}}}"#,
    );
}

#[test]
fn repeated_elements_are_looked_at_as_a_whole() {
    let single = Sample {
        ports: vec![port(80, "a")],
        ..Sample::default()
    };
    let twice = Sample {
        ports: vec![port(80, "a"), port(80, "b")],
        ..Sample::default()
    };
    let other = Sample {
        ports: vec![port(80, "a"), port(80, "c")],
        ..Sample::default()
    };
    let key = r#"k:{\"number\":80,\"protocol\":\"TCP\"}"#;
    let whole = format!(r#"{{"f:ports":{{"{key}":{{}}}}}}"#);
    check(&twice, &other, "{}", &whole, "{}");
    check(&twice, &twice, "{}", "{}", "{}");
    let parts = format!(r#"{{"f:ports":{{"{key}":{{".":{{}},"f:name":{{}},"f:number":{{}}}}}}}}"#);
    check(&single, &twice, &parts, "{}", &whole);
    check(&twice, &single, &whole, "{}", &parts);
}

#[test]
fn ignored_fields_are_left_out_at_their_place_only() {
    let mut new = Sample {
        text: "t".to_owned(),
        pointer: Some(Empty {
            anything: "x".to_owned(),
        }),
        ..Sample::default()
    };
    new.spec.anything = "y".to_owned();
    let anything = Ignored {
        fields: &["anything"],
        below: &[],
    };
    let ignored = Ignored {
        fields: &["text"],
        below: &[("spec", anything)],
    };
    let old = Sample::default();
    let comparison = compare(&old, &new, &ignored);
    assert_eq!(json(&comparison.added), r#"{"f:pointer":{".":{},"f:anything":{}}}"#);
}
