use super::name::of_field;
use super::{GoValue, diff};
use crate::Struct;
use crate::facts::StructFacts;
use crate::field_error::BadValue;
use crate::meta::LabelSelector;

/// Test structs have another module prefix than built-in kinds, which matters elsewhere; this test covers only names
/// and differences.
#[test]
fn names_are_those_of_go() {
    const FACTS: StructFacts = StructFacts {
        go_names: &[("monitors", "CephMonitors"), ("cephfs", "CephFS")],
        ..StructFacts::NONE
    };
    let cases = [
        ("tolerationSeconds", "TolerationSeconds"),
        ("gcePersistentDisk", "GCEPersistentDisk"),
        ("cephfs", "CephFS"),
        ("iscsi", "ISCSI"),
        ("nodeID", "NodeID"),
        ("monitors", "CephMonitors"),
        ("apiVersion", "APIVersion"),
        ("seLinuxOptions", "SELinuxOptions"),
    ];
    for (json, go) in cases {
        assert_eq!(of_field(&FACTS, json), go, "{json}");
    }
    assert_eq!(of_field(&StructFacts::NONE, "monitors"), "Monitors");
}

#[test]
fn metadata_types_keep_their_json_names() {
    let mut selector = LabelSelector::default();
    selector.match_labels.insert("a".to_owned(), "b".to_owned());
    assert_eq!(GoValue(&selector).rendered(), r#"{"matchLabels":{"a":"b"}}"#);
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Lines {
    lines: Vec<String>,
}

#[test]
fn differences_show_their_surroundings() {
    let lines = |changed: &str| Lines {
        lines: ["a", "b", "c", "d", changed, "f", "g", "h", "i"]
            .map(str::to_owned)
            .to_vec(),
    };
    let expected =
        "@@ -4,7 +4,7 @@\n   \"b\",\n   \"c\",\n   \"d\",\n-  \"e\",\n+  \"x\",\n   \"f\",\n   \"g\",\n   \"h\",\n";
    assert_eq!(diff(&lines("e"), &lines("x")), expected);
}

#[test]
fn equal_values_do_not_differ() {
    let lines = Lines {
        lines: vec!["a".to_owned()],
    };
    assert_eq!(diff(&lines, &lines), "");
}

#[test]
fn values_that_differ_in_thousands_of_places_are_not_compared() {
    let lines = |swapped: usize| Lines {
        lines: (0..8000).map(|line| format!("{}", line ^ swapped)).collect(),
    };
    assert_eq!(diff(&lines(0), &lines(1)), "");
    let mut one = lines(0);
    one.lines[4000] = "x".to_owned();
    assert!(diff(&lines(0), &one).contains("+  \"x\","));
}
