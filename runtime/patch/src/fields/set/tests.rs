use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::*;
use crate::fields::KeyValue;

fn json(set: &Set<'_>) -> String {
    let mut out = Vec::new();
    set.write_json(&mut out);
    String::from_utf8(out).expect("JSON is UTF-8")
}

fn read(text: &str) -> Set<'_> {
    Set::from_json(text.as_bytes()).expect(text)
}

#[test]
fn json_form_is_sorted_and_marks_members_with_children() {
    let text = r#"{"f:data":{".":{},"f:a":{},"f:b.c/d":{}},"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{}}},"f:set":{"v:1":{},"v:\"x\"":{},"v:true":{}},"f:list":{"i:0":{}}}}"#;
    let sorted = r#"{"f:data":{".":{},"f:a":{},"f:b.c/d":{}},"f:spec":{"f:list":{"i:0":{}},"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{}}},"f:set":{"v:1":{},"v:\"x\"":{},"v:true":{}}}}"#;
    assert_eq!(json(&read(text)), sorted);
}

#[test]
fn only_a_dot_inside_is_a_plain_member() {
    assert_eq!(json(&read(r#"{"f:a":{".":{}}}"#)), r#"{"f:a":{}}"#);
}

#[test]
fn unknown_steps_are_dropped_and_malformed_ones_refused() {
    assert_eq!(json(&read(r#"{"z:new":{"f:a":{}},"f:b":{}}"#)), r#"{"f:b":{}}"#);
    assert!(Set::from_json(br#"{"zzz":{}}"#).is_err());
    assert!(Set::from_json(br#"{"f":{}}"#).is_err());
    assert!(Set::from_json(br#"{"k:{":{}}"#).is_err());
    assert!(Set::from_json(br#"{"f:a":{}} x"#).is_err());
    assert!(Set::from_json(b"[]").is_err());
}

#[test]
fn removing_a_parent_keeps_its_children_unless_told_otherwise() {
    let parent = read(r#"{"f:spec":{}}"#);
    let mut set = read(r#"{"f:spec":{".":{},"f:a":{}},"f:x":{}}"#);
    set.remove(&parent);
    assert_eq!(json(&set), r#"{"f:spec":{"f:a":{}},"f:x":{}}"#);
    set.remove_below(&parent);
    assert_eq!(json(&set), r#"{"f:x":{}}"#);
}

#[test]
fn paths_are_shown_as_messages_show_them() {
    let set = read(r#"{"f:a":{"k:{\"name\":\"x\",\"port\":8}":{"f:b":{}},"v:\"q\"":{},"i:3":{}}}"#);
    let mut paths = Vec::new();
    set.each(&mut |path| paths.push(path.iter().map(ToString::to_string).collect::<String>()));
    assert_eq!(paths, [r#".a[name="x",port=8].b"#, r#".a[="q"]"#, ".a[3]"]);
}

fn element() -> impl Strategy<Value = PathElement<'static>> {
    let name = || prop::sample::select(vec!["a", "b", "c\"<é"]).prop_map(std::borrow::Cow::Borrowed);
    let value = || {
        prop_oneof![
            (-2i64..3).prop_map(KeyValue::Int),
            name().prop_map(KeyValue::Str),
            any::<bool>().prop_map(KeyValue::Bool),
        ]
    };
    prop_oneof![
        4 => name().prop_map(PathElement::Field),
        1 => (name(), value()).prop_map(|pair| PathElement::Key(vec![pair])),
        1 => value().prop_map(PathElement::Value),
        1 => (0i64..3).prop_map(PathElement::Index),
    ]
}

fn set() -> impl Strategy<Value = Set<'static>> {
    let path = prop::collection::vec(element(), 1..4);
    prop::collection::vec(path, 0..8).prop_map(Set::of)
}

fn without<'a>(mut left: Set<'a>, right: &Set<'_>) -> Set<'a> {
    left.remove(right);
    left
}

proptest! {
    #[test]
    fn json_form_reads_back(set in set()) {
        let text = json(&set);
        prop_assert_eq!(read(&text), set);
    }

    #[test]
    fn algebra_holds(a in set(), b in set(), c in set()) {
        let union = a.clone().union(b.clone());
        prop_assert_eq!(&union, &b.clone().union(a.clone()));
        prop_assert_eq!(union.clone().union(c.clone()), a.clone().union(b.clone().union(c.clone())));
        prop_assert_eq!(a.clone().union(a.clone()), a.clone());
        let both = a.clone().intersection(&b);
        prop_assert_eq!(&both, &b.clone().intersection(&a));
        prop_assert_eq!(a.clone().intersection(&a), a.clone());
        let only_a = without(a.clone(), &b);
        prop_assert!(!only_a.intersects(&b));
        prop_assert_eq!(only_a.union(both.clone()), a.clone());
        prop_assert_eq!(a.intersects(&b), !both.is_empty());
        prop_assert_eq!(union.len() + both.len(), a.len() + b.len());
        prop_assert!(without(a.clone(), &a).is_empty());
    }

    #[test]
    fn nothing_stays_at_or_below_what_is_removed(a in set(), b in set()) {
        let mut left = a.clone();
        left.remove_below(&b);
        prop_assert!(!left.intersects(&b));
        prop_assert_eq!(left.clone().union(a.clone()), a);
        let mut again = left.clone();
        again.remove_below(&b);
        prop_assert_eq!(again, left);
    }

    #[test]
    fn inserted_paths_are_members(path in prop::collection::vec(element(), 1..4), set in set()) {
        let mut grown = set.clone();
        grown.insert(path.clone());
        prop_assert!(grown.contains(&path));
        prop_assert_eq!(grown.len(), set.len() + usize::from(!set.contains(&path)));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let _ = Set::from_json(&bytes);
    }
}

#[test]
fn fields_of_the_deepest_objects_are_read() {
    let deep = |levels: usize| format!("{}{{}}{}", r#"{"f:a":"#.repeat(levels), "}".repeat(levels));
    let set = Set::from_json(deep(512).as_bytes()).map(|set| set.len());
    assert_eq!(set, Ok(1));
    assert!(Set::from_json(deep(100_000).as_bytes()).is_err());
}
