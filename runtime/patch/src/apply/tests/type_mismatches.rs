//! Objects that do not match their types: their fields cannot be tracked.

use planesmith_dynamic::custom::decode;
use planesmith_dynamic::testing::kind;
use planesmith_machinery::scheme::Scheme;

use super::*;

/// Refers to something.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Reference {
    /// A name.
    name: String,
    /// A kind.
    kind: String,
}

/// A kind with a list whose key may be absent.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "test.example.com", version = "v1", kind = "Account")]
struct Account {
    /// Metadata.
    metadata: ObjectMeta,
    /// Told apart by name.
    #[field(list_type = map, list_map_keys("name"))]
    references: Vec<Reference>,
}

/// The same kind in an older version, which refers to one thing.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "test.example.com", version = "v1beta1", kind = "Account", storage_version = Account)]
struct OldAccount {
    /// Metadata.
    metadata: ObjectMeta,
    /// Not told apart.
    references: Vec<Reference>,
}

fn account(names: &[&str]) -> Account {
    let reference = |name: &&str| Reference {
        name: (*name).to_owned(),
        kind: "x".to_owned(),
    };
    Account {
        metadata: ObjectMeta {
            name: "a".to_owned(),
            namespace: "ns".to_owned(),
            ..ObjectMeta::default()
        },
        references: names.iter().map(reference).collect(),
    }
}

fn stored(mut object: Account) -> Account {
    object.metadata.uid = "u".to_owned();
    object
}

const OMITS: &str = ".references: element 1: associative list with keys has an element that omits all key fields \
                     [\"name\"] (and doesn't have default values for any key fields)";

#[test]
fn an_update_to_an_element_without_a_key_ends_the_tracking() {
    let mut live = account(&["p"]);
    track_write(None, &mut live, &by("a"), &OneVersion).expect("fields");
    let live = stored(live);
    let mut new = Account {
        metadata: live.metadata.clone(),
        ..account(&["p", ""])
    };
    let error = track_write(Some(&live), &mut new, &by("b"), &OneVersion).expect_err("a type mismatch");
    let subject = "ns/a; test.example.com/v1, Kind=Account";
    assert_eq!(
        error.message(),
        format!("failed to convert new object ({subject}) to smd typed: {OMITS}")
    );
    assert_eq!(new.metadata.managed_fields, []);
    // An object without managers stays so, and one that had them while it did not match its type loses them, too.
    let mut later = new.clone();
    later.references.pop();
    track_write(Some(&new), &mut later, &by("b"), &OneVersion).expect("nothing to track");
    assert_eq!(later.metadata.managed_fields, []);
    new.metadata.managed_fields.clone_from(&live.metadata.managed_fields);
    let error = track_write(Some(&new), &mut later, &by("b"), &OneVersion).expect_err("a type mismatch");
    assert_eq!(
        error.message(),
        format!("failed to convert live object ({subject}) to smd typed: {OMITS}")
    );
}

#[test]
fn nothing_is_applied_to_an_object_that_does_not_match_its_type() {
    let applied = json!({"apiVersion": "test.example.com/v1", "kind": "Account", "metadata": {"labels": {"x": "1"}}});
    let refused = |live: &dyn Object, applied: &Value, force| {
        let refused = apply(live, applied, &by("a"), force, &Scheme::new()).expect_err("a type mismatch");
        refused.to_api_error("sent").message().to_owned()
    };
    let mut live = stored(account(&["p", ""]));
    let subject = "(ns/a; test.example.com/v1, Kind=Account)";
    let expected = format!(
        "failed to create manager for existing fields: failed to convert new object {subject} to smd typed: {OMITS}"
    );
    assert_eq!(refused(&live, &applied, true), expected);
    let mut tracked = account(&["p"]);
    track_write(None, &mut tracked, &by("b"), &OneVersion).expect("fields");
    live.metadata.managed_fields = tracked.metadata.managed_fields;
    let expected = format!("failed to create typed live object {subject}: {OMITS}");
    assert_eq!(refused(&live, &applied, true), expected);
    // Before conflicts.
    let conflicting = json!({"apiVersion": "test.example.com/v1", "kind": "Account",
                             "references": [{"name": "p", "kind": "y"}]});
    assert_eq!(refused(&live, &conflicting, false), expected);
}

#[test]
fn managers_of_another_version_need_an_object_without_repeated_elements_there() {
    let mut scheme = Scheme::new();
    scheme.add::<Account>().add::<OldAccount>();
    let in_old = |account: &Account| {
        use planesmith_machinery::object::Resource as _;
        planesmith_machinery::conversion::convert(account, OldAccount::RESOURCE)
    };
    let mut live = account(&["p", "p"]);
    track_write(None, &mut live, &by("a"), &scheme).expect("elements may be repeated in the version of the write");
    let live = stored(live);
    let (old, mut new) = (in_old(&live), in_old(&live));
    new.meta_mut().labels.insert("x".to_owned(), "1".to_owned());
    let why = ".references: duplicate entries for key [name=\"p\"]";
    let error = track_write(Some(&*old), &mut *new, &by("b"), &scheme).expect_err("a repeated element");
    assert_eq!(error.message(), why);
    let applied =
        json!({"apiVersion": "test.example.com/v1beta1", "kind": "Account", "metadata": {"labels": {"x": "1"}}});
    let refused = apply(&*old, &applied, &by("b"), false, &scheme).expect_err("a repeated element");
    assert_eq!(refused.to_api_error("").message(), why);
}

/// The problem of tracking a custom object that was created with `content`.
fn problem(schema: &Value, content: &Value) -> Option<String> {
    let [kind, _] = kind(&json!({"properties": schema}));
    let mut document = json!({"metadata": {"name": "w"}});
    document
        .as_object_mut()
        .expect("an object")
        .extend(content.as_object().expect("an object").clone());
    let mut object = kind.zero();
    decode(document.to_string().as_bytes(), &mut *object, Strictness::Lenient).expect("a document");
    let tracked = track_write(None, &mut *object, &by("a"), &Scheme::new());
    assert_eq!(object.meta().managed_fields.is_empty(), tracked.is_err());
    let message = tracked.err()?.message().to_owned();
    let (_, why) = message.split_once(" to smd typed: ").expect("the kind of problem");
    Some(why.to_owned())
}

#[test]
fn custom_objects_match_their_schemas_in_all_their_parts() {
    let integer = || json!({"type": "integer"});
    let items =
        |list_type: &str, items: Value| json!({"type": "array", "x-kubernetes-list-type": list_type, "items": items});
    let object = || json!({"type": "object", "properties": {"a": {"type": "string"}}});
    for (schema, content, expected) in [
        (json!({"spec": integer()}), json!({"spec": 1}), None),
        (
            json!({"status": object()}),
            json!({"status": 3.5}),
            Some(".status: expected map, got &{3.5}"),
        ),
        (
            json!({"l": items("set", object())}),
            json!({"l": [{"a": "1"}]}),
            Some(".l: element 0: associative list without keys has an element that's a map type"),
        ),
        (
            json!({"l": items("set", items("atomic", integer()))}),
            json!({"l": [[1]]}),
            Some(".l: element 0: not supported: associative list with lists as elements"),
        ),
        // Inside values that are owned as a whole, and behind elements that are repeated.
        (
            json!({"l": items("atomic", object())}),
            json!({"l": [{"a": "1"}, {"a": 1}]}),
            Some(".l[1].a: expected string, got &value.valueUnstructured{Value:1}"),
        ),
        (
            json!({"l": items("atomic", object())}),
            json!({"l": [{"a": "1"}, {"a": null}]}),
            None,
        ),
    ] {
        assert_eq!(problem(&schema, &content).as_deref(), expected, "{content}");
    }
    let keyed = json!({"l": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
        "items": {"type": "object", "properties": {"k": integer(), "v": integer()}}}});
    assert_eq!(problem(&keyed, &json!({"l": [{"k": 1}, {"k": 1, "v": 1}]})), None);
    let expected = ".l[k=1].v: expected numeric (int or float), got string";
    let content = json!({"l": [{"k": 1}, {"k": 1, "v": "x"}]});
    assert_eq!(problem(&keyed, &content).as_deref(), Some(expected));
}
