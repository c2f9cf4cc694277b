use std::collections::BTreeMap;

use planesmith_wire::time::Time;

use super::*;
use crate::field_error::FieldError;
use crate::meta::{ObjectMeta, OwnerReference};
use crate::resource::strategy::MetadataRules;
use crate::resource::{NameRule, Scope};
use crate::{Resource, Struct};

/// A size.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Size {
    /// Unit.
    #[field(required, one_of("m", "cm"))]
    unit: String,
    /// Number.
    #[field(minimum = 1, maximum = 9)]
    number: i32,
}

/// Every declared rule.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    /// Needed.
    #[field(required)]
    title: String,
    /// Needed, and always written.
    #[field(keep, required)]
    note: String,
    /// Short letters.
    #[field(pattern = "^[a-z]+$", min_length = 2, max_length = 4)]
    code: String,
    /// Cannot change once set.
    #[field(immutable)]
    class: String,
    /// A few.
    #[field(max_length = 1)]
    sizes: Vec<Size>,
    /// By name.
    named: BTreeMap<String, Size>,
    /// Perhaps.
    one: Option<Size>,
    /// Texts of a form.
    #[field(each(one_of("a", "bb", "ccc"), max_length = 2))]
    words: Vec<String>,
    /// Rows of numbers, by name.
    #[field(max_length = 1, each(each(minimum = 1)))]
    rows: BTreeMap<String, Vec<i32>>,
    /// Each once.
    #[field(list_type = set, unique)]
    tags: Vec<String>,
    /// One of a unit and a number.
    #[field(list_type = map, list_map_keys("unit", "number"), unique)]
    parts: Vec<Size>,
}

/// A kind with rules.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "test.example.com", version = "v1", kind = "Ruled", plural = "ruled")]
struct Ruled {
    /// Metadata.
    metadata: ObjectMeta,
    /// Content.
    spec: Spec,
}

fn ruled() -> Ruled {
    let metadata = ObjectMeta {
        name: "a".to_owned(),
        namespace: "n".to_owned(),
        resource_version: "1".to_owned(),
        ..ObjectMeta::default()
    };
    Ruled {
        metadata,
        spec: Spec {
            title: "t".to_owned(),
            ..Spec::default()
        },
    }
}

fn check_create(object: &dyn Object) -> FieldErrors {
    super::check_create(object, &Context::default())
}

fn check_update(new: &dyn Object, old: &dyn Object) -> FieldErrors {
    super::check_update(new, old, &Context::default())
}

fn messages(errors: &FieldErrors) -> Vec<String> {
    errors.as_slice().iter().map(FieldError::message).collect()
}

#[test]
fn legal_object_has_no_errors() {
    assert_eq!(messages(&check_create(&ruled())), Vec::<String>::new());
    assert_eq!(messages(&check_update(&ruled(), &ruled())), Vec::<String>::new());
}

#[test]
fn declared_rules_are_reported_by_path() {
    let mut object = ruled();
    object.spec.title.clear();
    object.spec.code = "A".to_owned();
    let size = |unit: &str, number| Size {
        unit: unit.to_owned(),
        number,
    };
    object.spec.sizes = vec![size("m", 10), size("km", 1)];
    object.spec.named.insert("a b".to_owned(), size("", 1));
    object.spec.one = Some(size("cm", -1));
    let expected = [
        "spec.title: Required value",
        "spec.code: Invalid value: \"A\": must match the regular expression ^[a-z]+$",
        "spec.code: Too short: must be at least 2 characters",
        "spec.sizes: Too many: 2: must have at most 1 item",
        "spec.sizes[0].number: Invalid value: 10: must be less than or equal to 9",
        "spec.sizes[1].unit: Unsupported value: \"km\": supported values: \"cm\", \"m\"",
        "spec.named[a b].unit: Required value",
        "spec.one.number: Invalid value: -1: must be greater than or equal to 1",
    ];
    let mut found = messages(&check_create(&object));
    found[1..3].sort();
    assert_eq!(found, expected);
}

#[test]
fn rules_for_each_element_are_checked_on_each() {
    let mut object = ruled();
    object.spec.words = ["a", "d", "ccc"].map(str::to_owned).to_vec();
    object.spec.rows.insert("x".to_owned(), vec![1, 0]);
    assert_eq!(
        messages(&check_create(&object)),
        [
            "spec.words[1]: Unsupported value: \"d\": supported values: \"a\", \"bb\", \"ccc\"",
            "spec.words[2]: Too long: may not be more than 2 characters",
            "spec.rows[x][1]: Invalid value: 0: must be greater than or equal to 1",
        ]
    );
}

#[test]
fn unique_elements_stand_once() {
    let mut object = ruled();
    let size = |unit: &str, number| Size {
        unit: unit.to_owned(),
        number,
    };
    object.spec.tags = ["a", "b", "a"].map(str::to_owned).to_vec();
    object.spec.parts = vec![size("m", 1), size("m", 2), size("cm", 1), size("m", 1)];
    assert_eq!(
        messages(&check_create(&object)),
        [
            "spec.tags[2]: Duplicate value: \"a\"",
            "spec.parts[3]: Duplicate value: {\"unit\":\"m\",\"number\":1}",
        ]
    );
}

/// A kind whose fields are needed, whatever they hold.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "test.example.com", version = "v1", kind = "Needing", plural = "needing")]
struct Needing {
    /// Metadata.
    metadata: ObjectMeta,
    /// Text that may be empty.
    #[field(required)]
    text: Option<String>,
    /// A list that may be empty.
    #[field(required)]
    list: Option<Vec<String>>,
    /// A struct that may hold nothing.
    #[field(required)]
    size: Option<Size>,
    /// A number with something that stands in for it.
    #[field(default = 0)]
    number: Option<i32>,
}

#[test]
fn a_required_field_that_may_be_empty_has_to_be_there() {
    let mut object = Needing {
        metadata: ruled().metadata,
        ..Needing::default()
    };
    crate::defaulting::set_defaults(&mut object, crate::environment::Environment::defaults());
    let missing = ["text", "list", "size"].map(|field| format!("{field}: Required value"));
    assert_eq!(messages(&check_create(&object)), missing);
    object.text = Some(String::new());
    object.list = Some(Vec::new());
    object.size = Some(Size {
        unit: "m".to_owned(),
        number: 1,
    });
    assert_eq!(messages(&check_create(&object)), Vec::<String>::new());
}

#[test]
fn immutable_field_may_be_set_but_not_changed() {
    let (mut old, mut new) = (ruled(), ruled());
    new.spec.class = "b".to_owned();
    assert_eq!(messages(&check_update(&new, &old)), Vec::<String>::new());
    old.spec.class = "a".to_owned();
    assert_eq!(
        messages(&check_update(&new, &old)),
        ["spec.class: Invalid value: \"b\": field is immutable"]
    );
}

#[test]
fn metadata_is_checked_in_order() {
    let mut object = ruled();
    object.metadata.name.clear();
    object.metadata.namespace.clear();
    object.metadata.labels = BTreeMap::from([("_a".to_owned(), "-".to_owned())]);
    object.metadata.annotations = BTreeMap::from([
        ("a b".to_owned(), String::new()),
        ("Up.Per/x".to_owned(), String::new()),
    ]);
    object.metadata.finalizers = vec!["plain".to_owned(), "example.com/ok".to_owned(), "orphan".to_owned()];
    let errors = check_create(&object);
    let fields: Vec<&str> = errors.as_slice().iter().map(|error| error.field.as_str()).collect();
    let expected = [
        "metadata.name",
        "metadata.namespace",
        "metadata.labels",
        "metadata.labels",
        "metadata.annotations",
        "metadata.finalizers[0]",
    ];
    assert_eq!(fields, expected);
    let last = "metadata.finalizers[0]: Invalid value: \"plain\": name is neither a standard finalizer name nor is it fully qualified";
    assert_eq!(messages(&errors)[5], last);
}

#[test]
fn owners_are_complete_and_have_one_controller() {
    let owner = |name: &str, uid: &str| OwnerReference {
        api_version: "v1".to_owned(),
        kind: "ConfigMap".to_owned(),
        name: name.to_owned(),
        uid: uid.to_owned(),
        controller: Some(true),
        ..OwnerReference::default()
    };
    let mut object = ruled();
    object.metadata.owner_references = vec![owner("a", "1"), owner("b", "2")];
    let expected = "metadata.ownerReferences: Invalid value: \
        [{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"a\",\"uid\":\"1\",\"controller\":true},\
        {\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"b\",\"uid\":\"2\",\"controller\":true}]: \
        Only one reference can have Controller set to true. Found \"true\" in references for ConfigMap/a and ConfigMap/b";
    assert_eq!(messages(&check_create(&object)), [expected]);
    assert_eq!(check_update(&object, &ruled()).as_slice().len(), 4);
    object.metadata.owner_references = vec![OwnerReference::default()];
    let expected = [
        "metadata.ownerReferences.apiVersion: Invalid value: \"\": version must not be empty",
        "metadata.ownerReferences.kind: Invalid value: \"\": must not be empty",
        "metadata.ownerReferences.name: Invalid value: \"\": must not be empty",
        "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty",
    ];
    assert_eq!(messages(&check_create(&object)), expected);
    let event = OwnerReference {
        kind: "Event".to_owned(),
        controller: None,
        ..owner("e", "u")
    };
    object.metadata.owner_references = vec![event];
    let expected = "metadata.ownerReferences: Invalid value: \
        {\"apiVersion\":\"v1\",\"kind\":\"Event\",\"name\":\"e\",\"uid\":\"u\"}: \
        /v1, Kind=Event is disallowed from being an owner";
    assert_eq!(messages(&check_create(&object)), [expected]);
}

#[test]
fn fields_set_by_the_server_cannot_be_changed() {
    let old = ruled();
    let mut new = ruled();
    new.metadata.uid = "other".to_owned();
    new.metadata.deletion_timestamp = Some(Time::from_second(0));
    new.metadata.deletion_grace_period_seconds = Some(9);
    let expected = [
        "metadata.uid: Invalid value: \"other\": field is immutable",
        "metadata.deletionTimestamp: Invalid value: \"1970-01-01T00:00:00Z\": field is immutable",
        "metadata.deletionGracePeriodSeconds: Invalid value: 9: field is immutable",
    ];
    let found = messages(&check_update(&new, &old));
    assert_eq!(found.len(), 6, "each layer reports: {found:?}");
    assert_eq!(found[..3], expected);
}

#[test]
fn object_on_its_way_out_takes_no_new_finalizers() {
    let mut old = ruled();
    old.metadata.deletion_timestamp = Some(Time::from_second(1));
    old.metadata.finalizers = vec!["example.com/one".to_owned()];
    let mut new = old.clone();
    new.metadata.finalizers = vec!["example.com/three".to_owned(), "example.com/one".to_owned()];
    let expected = "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, \
                    found new finalizers []string{\"example.com/three\"}";
    assert_eq!(messages(&check_update(&new, &old)), [expected, expected]);
}

#[test]
fn options_are_refused_in_the_name_of_their_kind() {
    let error = check_write_options("UpdateOptions", "", &["None".to_owned()], "", FieldErrors::default())
        .expect_err("not All");
    let message =
        "UpdateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"None\"]: supported values: \"All\"";
    assert_eq!(error.message(), message);
    let error =
        check_write_options("CreateOptions", &"x".repeat(129), &[], "", FieldErrors::default()).expect_err("too long");
    assert!(
        error
            .message()
            .ends_with("fieldManager: Too long: may not be more than 128 bytes")
    );
    let error = check_write_options("PatchOptions", "", &[], "Loud", FieldErrors::default()).expect_err("unknown");
    assert!(
        error
            .message()
            .ends_with("\"Loud\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"")
    );
    assert!(
        check_write_options(
            "CreateOptions",
            "me",
            &["All".to_owned()],
            "Strict",
            FieldErrors::default()
        )
        .is_ok()
    );
}

#[test]
fn finalizers_are_judged_by_what_the_kind_asks_of_metadata() {
    let mut object = ruled();
    object.metadata.finalizers = vec!["plain".to_owned()];
    let count = |rules: MetadataRules| {
        let mut errors = FieldErrors::default();
        check_metadata(
            &object.metadata,
            Scope::Namespaced,
            NameRule::DnsLabel,
            rules,
            &mut errors,
        );
        check_metadata_change(&object.metadata, &ruled().metadata, rules, &mut errors);
        errors.as_slice().len()
    };
    assert_eq!(count(MetadataRules::Strict), 2, "a change finds it, too");
    assert_eq!(count(MetadataRules::AnyFinalizers), 0);
    object.metadata.name = "No Name".to_owned();
    let mut errors = FieldErrors::default();
    let (name, rules) = (NameRule::DnsLabel, MetadataRules::None);
    check_metadata(&object.metadata, Scope::Namespaced, name, rules, &mut errors);
    assert!(errors.is_empty(), "such kinds take any name");
}
