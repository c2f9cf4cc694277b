use std::collections::BTreeMap;

use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::{Resource, Struct};
use planesmith_wire::raw::FieldsV1;

use super::*;

/// Content.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    /// A number of replicas.
    replicas: Option<i32>,
}

/// A state.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct State {
    /// A phase.
    phase: String,
}

/// A kind with data and a status.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "test.example.com",
    version = "v1",
    kind = "Thing",
    plural = "things",
    status
)]
struct Thing {
    /// Metadata.
    metadata: ObjectMeta,
    /// Entries.
    data: BTreeMap<String, String>,
    /// Content.
    spec: Spec,
    /// State.
    status: State,
}

const VERSION: &str = "test.example.com/v1";

/// No other versions.
struct OneVersion;

impl Versions for OneVersion {
    fn convert(&self, _: &dyn Object, _: &str) -> ApiResult<Option<Box<dyn Object>>> {
        Ok(None)
    }

    fn zero(&self, _: &dyn Object, _: &str) -> Option<Box<dyn Object>> {
        None
    }
}

fn thing(data: &[(&str, &str)]) -> Thing {
    let data = data
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    Thing {
        metadata: ObjectMeta {
            name: "x".to_owned(),
            ..ObjectMeta::default()
        },
        data,
        ..Thing::default()
    }
}

fn at(second: i64) -> Time {
    Time::from_second(second)
}

fn write_at(second: i64, manager: &str, live: Option<&Thing>, mut new: Thing) -> Thing {
    track_write(
        live.map(|live| live as &dyn Object),
        &mut new,
        &Tracking {
            manager,
            subresource: "",
            now: at(second),
            resets: &[],
            sent_empty: None,
        },
        &OneVersion,
    )
    .expect("no conversion");
    new.metadata.uid = "u".to_owned();
    new
}

fn entries(thing: &Thing) -> Vec<String> {
    let entry = |entry: &ManagedFieldsEntry| {
        let fields = entry.fields_v1.as_ref().map_or("", |fields| fields.as_str());
        let second = seconds(entry.time);
        format!(
            "{} {} {} {second} {fields}",
            entry.operation, entry.manager, entry.subresource
        )
    };
    thing.metadata.managed_fields.iter().map(entry).collect()
}

fn seconds(time: Option<Time>) -> i64 {
    super::entries::seconds(time)
}

#[test]
fn entries_of_a_client_are_written_as_the_server_writes_them() {
    let created = write_at(1, "maker", None, thing(&[("\u{e9}", "1"), ("a", "1")]));
    let expected = "Update maker  1 {\"f:data\":{\".\":{},\"f:a\":{},\"f:\u{e9}\":{}}}";
    assert_eq!(entries(&created), [expected]);
    let mut sent = created.clone();
    let fields = r#"{"f:data":{"f:\u00e9":{},"f:a":{},".":{}}}"#;
    sent.metadata.managed_fields[0].fields_v1 = Some(FieldsV1::new(fields.as_bytes()).expect("JSON"));
    assert_eq!(entries(&write_at(2, "putter", Some(&created), sent)), [expected]);
}

#[test]
fn creator_manages_everything_but_what_the_server_sets() {
    let mut new = thing(&[("a", "1"), ("b", "1")]);
    new.metadata.uid = "given".to_owned();
    new.metadata.labels.insert("l".to_owned(), "1".to_owned());
    new.status.phase = "Made".to_owned();
    let created = write_at(1, "maker", None, new);
    let expected =
        r#"Update maker  1 {"f:data":{".":{},"f:a":{},"f:b":{}},"f:metadata":{"f:labels":{".":{},"f:l":{}}}}"#;
    assert_eq!(entries(&created), [expected]);
    assert_eq!(created.metadata.managed_fields[0].api_version, VERSION);
    assert_eq!(created.metadata.managed_fields[0].fields_type, "FieldsV1");
}

#[test]
fn changed_fields_move_to_the_writer() {
    let created = write_at(1, "maker", None, thing(&[("a", "1"), ("b", "1")]));
    let patched = write_at(
        2,
        "patcher",
        Some(&created),
        thing(&[("a", "1"), ("b", "2"), ("c", "2")]),
    );
    let expected = [
        r#"Update maker  1 {"f:data":{".":{},"f:a":{}}}"#,
        r#"Update patcher  2 {"f:data":{"f:b":{},"f:c":{}}}"#,
    ];
    assert_eq!(entries(&patched), expected);
    let replaced = write_at(3, "putter", Some(&patched), thing(&[("a", "9"), ("z", "9")]));
    assert_eq!(
        entries(&replaced),
        [
            r#"Update maker  1 {"f:data":{}}"#,
            r#"Update putter  3 {"f:data":{"f:a":{},"f:z":{}}}"#
        ]
    );
}

#[test]
fn same_values_change_no_manager_and_no_time() {
    let created = write_at(1, "maker", None, thing(&[("a", "1")]));
    let again = write_at(2, "other", Some(&created), thing(&[("a", "1")]));
    assert_eq!(again.metadata.managed_fields, created.metadata.managed_fields);
}

#[test]
fn second_write_of_a_manager_merges_into_its_entry() {
    let created = write_at(1, "maker", None, thing(&[("a", "1")]));
    let again = write_at(2, "maker", Some(&created), thing(&[("a", "1"), ("b", "1")]));
    assert_eq!(
        entries(&again),
        [r#"Update maker  2 {"f:data":{".":{},"f:a":{},"f:b":{}}}"#]
    );
}

#[test]
fn one_empty_entry_forgets_all_and_the_object_stays_untracked() {
    let created = write_at(1, "maker", None, thing(&[("a", "1")]));
    let mut reset = thing(&[("a", "1")]);
    reset.metadata.managed_fields = vec![ManagedFieldsEntry::default()];
    let reset = write_at(2, "maker", Some(&created), reset);
    assert!(entries(&reset).is_empty());
    let later = write_at(3, "maker", Some(&reset), thing(&[("a", "2")]));
    assert!(entries(&later).is_empty());
}

#[test]
fn valid_entries_that_are_sent_replace_the_stored_ones() {
    let created = write_at(1, "maker", None, thing(&[("a", "1")]));
    let mut sent = thing(&[("a", "1")]);
    let entry = ManagedFieldsEntry {
        manager: "made-up".to_owned(),
        operation: "Apply".to_owned(),
        api_version: VERSION.to_owned(),
        time: Some(at(7)),
        fields_type: "FieldsV1".to_owned(),
        fields_v1: FieldsV1::new(br#"{"f:data":{"f:a":{}}}"#).ok(),
        ..ManagedFieldsEntry::default()
    };
    sent.metadata.managed_fields = vec![entry.clone()];
    let taken = write_at(2, "putter", Some(&created), sent.clone());
    assert_eq!(entries(&taken), [r#"Apply made-up  7 {"f:data":{"f:a":{}}}"#]);
    for broken in [
        ManagedFieldsEntry {
            operation: "Steal".to_owned(),
            ..entry.clone()
        },
        ManagedFieldsEntry {
            fields_type: "FieldsV9".to_owned(),
            ..entry.clone()
        },
        ManagedFieldsEntry {
            fields_v1: FieldsV1::new(br#"{"zzz":{}}"#).ok(),
            ..entry.clone()
        },
    ] {
        sent.metadata.managed_fields = vec![broken];
        assert_eq!(
            entries(&write_at(2, "putter", Some(&created), sent.clone())),
            entries(&created)
        );
    }
    sent.metadata.managed_fields = vec![ManagedFieldsEntry {
        api_version: "v77".to_owned(),
        ..entry.clone()
    }];
    assert!(entries(&write_at(2, "putter", Some(&created), sent.clone())).is_empty());
    sent.metadata.managed_fields = vec![entry];
    assert_eq!(
        entries(&write_at(1, "maker", None, sent)),
        entries(&created),
        "what the creator sets is the creator's"
    );
}

/// An entry of an update that a client made up.
fn made_up(manager: &str, second: Option<i64>, fields: &str) -> ManagedFieldsEntry {
    ManagedFieldsEntry {
        manager: manager.to_owned(),
        operation: "Update".to_owned(),
        api_version: VERSION.to_owned(),
        time: second.map(at),
        fields_type: "FieldsV1".to_owned(),
        fields_v1: FieldsV1::new(fields.as_bytes()).ok(),
        ..ManagedFieldsEntry::default()
    }
}

#[test]
fn managers_that_a_creator_sends_keep_what_is_not_set() {
    let mut sent = thing(&[("a", "1")]);
    sent.metadata.managed_fields = vec![
        made_up(
            "odd",
            None,
            r#"{"f:data":{"f:a":{},"f:z":{}},"f:metadata":{"f:managedFields":{},"f:name":{},"f:uid":{}}}"#,
        ),
        made_up("whole", None, r#"{"f:metadata":{}}"#),
    ];
    let created = write_at(1, "maker", None, sent);
    let expected = [
        r#"Update odd  0 {"f:data":{"f:z":{}},"f:metadata":{"f:managedFields":{},"f:uid":{}}}"#,
        r#"Update whole  0 {"f:metadata":{}}"#,
        r#"Update maker  1 {"f:data":{".":{},"f:a":{}}}"#,
    ];
    assert_eq!(entries(&created), expected);
    let mut put = thing(&[("a", "1")]);
    put.metadata.managed_fields.clone_from(&created.metadata.managed_fields);
    let put = write_at(2, "putter", Some(&created), put);
    assert_eq!(
        entries(&put)[0],
        r#"Update odd  0 {"f:data":{"f:z":{}}}"#,
        "a write that says nothing of them removes the UID and who manages what"
    );
}

#[test]
fn merged_updates_of_before_are_merged_in_their_turn() {
    let mut sent = thing(&[("a", "1")]);
    let mut entries_of = |second: i64| {
        sent.metadata.managed_fields = vec![made_up("ancient-changes", Some(second), r#"{"f:data":{"f:old":{}}}"#)];
        sent.metadata.managed_fields.extend((0..12).map(|index| {
            made_up(
                &format!("m{index:02}"),
                Some(5),
                &format!(r#"{{"f:data":{{"f:k{index}":{{}}}}}}"#),
            )
        }));
        entries(&write_at(6, "maker", None, sent.clone()))
    };
    let oldest = entries_of(1);
    assert_eq!(oldest.len(), 10);
    assert_eq!(
        oldest[0],
        r#"Update ancient-changes  5 {"f:data":{"f:k0":{},"f:k1":{},"f:k2":{},"f:k3":{},"f:old":{}}}"#
    );
    let newest = entries_of(7);
    assert_eq!(newest.len(), 10);
    assert_eq!(
        newest[..2],
        [
            r#"Update ancient-changes  5 {"f:data":{"f:k1":{},"f:k2":{},"f:k3":{},"f:k4":{},"f:old":{}}}"#,
            r#"Update m00  5 {"f:data":{"f:k0":{}}}"#,
        ],
        "the first is not merged, there is one already"
    );
}

#[test]
fn status_is_managed_through_its_subresource_only() {
    let created = write_at(1, "maker", None, thing(&[("a", "1")]));
    let mut new = created.clone();
    new.status.phase = "Ready".to_owned();
    new.spec.replicas = Some(3);
    let main = write_at(2, "maker", Some(&created), new.clone());
    assert_eq!(
        entries(&main),
        [r#"Update maker  2 {"f:data":{".":{},"f:a":{}},"f:spec":{"f:replicas":{}}}"#]
    );
    let write = Tracking {
        manager: "kubelet",
        subresource: "status",
        now: at(2),
        resets: &[],
        sent_empty: None,
    };
    track_write(Some(&created), &mut new, &write, &OneVersion).expect("no conversion");
    let expected = [
        r#"Update maker  1 {"f:data":{".":{},"f:a":{}}}"#,
        r#"Update kubelet status 2 {"f:status":{"f:phase":{}}}"#,
    ];
    assert_eq!(entries(&new), expected);
}

#[test]
fn fields_that_a_subresource_resets_have_no_manager_there() {
    let created = write_at(1, "maker", None, thing(&[("a", "1"), ("b", "1")]));
    let mut new = created.clone();
    new.data = thing(&[("a", "2"), ("b", "2")]).data;
    let write = Tracking {
        manager: "resizer",
        subresource: "part",
        now: at(2),
        resets: &["data.a"],
        sent_empty: None,
    };
    track_write(Some(&created), &mut new, &write, &OneVersion).expect("no conversion");
    let expected = [
        r#"Update maker  1 {"f:data":{".":{},"f:a":{}}}"#,
        r#"Update resizer part 2 {"f:data":{"f:b":{}}}"#,
    ];
    assert_eq!(entries(&new), expected);
}

#[test]
fn oldest_updates_are_merged_when_there_are_too_many() {
    let mut object = write_at(1, "m00", None, thing(&[("k00", "1")]));
    for index in 1..12 {
        let mut next = object.clone();
        next.data.insert(format!("k{index:02}"), "1".to_owned());
        object = write_at(1 + index, &format!("m{index:02}"), Some(&object), next);
    }
    let found = entries(&object);
    assert_eq!(found.len(), 10);
    assert_eq!(
        found[0],
        r#"Update ancient-changes  3 {"f:data":{".":{},"f:k00":{},"f:k01":{},"f:k02":{}}}"#
    );
    assert_eq!(found[9], r#"Update m11  12 {"f:data":{"f:k11":{}}}"#);
}

/// The entries of a thing with one replica, made by `maker`, after writes to its Scale.
fn scaled(writes: &[(&'static str, i32, i32)]) -> Vec<String> {
    let mut new = thing(&[("a", "1")]);
    new.spec.replicas = Some(1);
    let mut created = write_at(1, "maker", None, new);
    for (manager, old, new) in writes {
        let write = ScaleWrite {
            manager,
            now: at(9),
            old: *old,
            new: *new,
        };
        let kind = created.resource();
        let managers = ScaleManagers::read(&created.metadata.managed_fields, kind, "spec.replicas").expect("entries");
        created.metadata.managed_fields = managers.track(&write);
        let from_scale = |entry: &&ManagedFieldsEntry| entry.subresource == "scale";
        assert!(
            created
                .metadata
                .managed_fields
                .iter()
                .filter(from_scale)
                .all(|entry| entry.time.is_none())
        );
    }
    entries(&created)
}

#[test]
fn scale_moves_replicas_to_an_entry_without_time() {
    let maker = r#"Update maker  1 {"f:data":{".":{},"f:a":{}}}"#;
    let hpa = r#"Update hpa scale 0 {"f:spec":{"f:replicas":{}}}"#;
    assert_eq!(scaled(&[("hpa", 1, 5)]), [hpa, maker]);
    assert_eq!(
        scaled(&[("hpa", 1, 5), ("other", 5, 5)]),
        [hpa, maker],
        "nothing changes hands"
    );
    assert_eq!(scaled(&[("hpa", 1, 0)]), [maker], "no replicas are no field");
    assert_eq!(
        scaled(&[("hpa", 1, 0), ("hpa", 0, 2)]),
        [maker],
        "nobody manages what nobody managed"
    );
    let again = r#"Update maker  0 {"f:spec":{"f:replicas":{}}}"#;
    assert_eq!(
        scaled(&[("hpa", 1, 1)]),
        [again, maker],
        "who had it has it without a time"
    );
    assert_eq!(
        scaled(&[("hpa", 1, 1), ("hpa", 1, 1)]),
        [maker],
        "of two entries the last one counts"
    );
}

#[test]
fn managers_of_a_scale_are_those_of_the_number() {
    let mut new = thing(&[("a", "1")]);
    new.spec.replicas = Some(1);
    let mut created = write_at(1, "maker", None, new);
    let managers = ScaleManagers::read(&created.metadata.managed_fields, created.resource(), "spec.replicas");
    let shown = managers.expect("entries").of_scale();
    created.metadata.managed_fields = shown;
    assert_eq!(entries(&created), [r#"Update maker  1 {"f:spec":{"f:replicas":{}}}"#]);
    assert_eq!(created.metadata.managed_fields[0].api_version, "autoscaling/v1");
    created.metadata.managed_fields[0].api_version = "other.example.com/v1".to_owned();
    let managers = ScaleManagers::read(&created.metadata.managed_fields, created.resource(), "spec.replicas");
    let write = ScaleWrite {
        manager: "hpa",
        now: at(2),
        old: 1,
        new: 2,
    };
    assert_eq!(
        managers.expect("entries").track(&write),
        [],
        "versions of other groups are forgotten"
    );
}

#[test]
fn times_are_taken_back_when_nothing_else_changed() {
    let old = write_at(1, "maker", None, thing(&[("a", "1")]));
    let mut touched = old.clone();
    touched.metadata.managed_fields[0].time = Some(at(9));
    let mut same = touched.clone();
    keep_times(&old, &mut same);
    assert_eq!(same, old);
    touched.data.insert("b".to_owned(), "1".to_owned());
    let mut changed = touched.clone();
    keep_times(&old, &mut changed);
    assert_eq!(changed, touched);
}

#[test]
fn manager_is_named_by_parameter_or_agent() {
    assert_eq!(manager_name("wins", "my-tool/v1"), "wins");
    assert_eq!(manager_name("", "my-tool/v1.2 (linux/amd64) abc"), "my-tool");
    assert_eq!(manager_name("", "with space\u{1}/1.0"), "with space");
    assert_eq!(manager_name("", ""), "unknown");
    assert_eq!(manager_name("", &"x".repeat(200)).len(), 128);
}

#[test]
fn a_field_sent_empty_again_changes_its_manager() {
    let data = Set::of([[PathElement::field("data")]]);
    let write = |second: i64, manager: &'static str, live: Option<&Thing>, mut new: Thing| {
        let write = Tracking {
            manager,
            subresource: "",
            now: at(second),
            resets: &[],
            sent_empty: Some(&data),
        };
        track_write(live.map(|live| live as &dyn Object), &mut new, &write, &OneVersion).expect("no conversion");
        new.metadata.uid = "u".to_owned();
        new
    };
    let created = write(1, "maker", None, thing(&[]));
    assert_eq!(entries(&created), [r#"Update maker  1 {"f:data":{}}"#]);
    let put = write(2, "putter", Some(&created), thing(&[]));
    assert_eq!(entries(&put), [r#"Update putter  2 {"f:data":{}}"#]);
    let filled = write_at(1, "maker", None, thing(&[("a", "1")]));
    let sent_empty = write(2, "putter", Some(&filled), thing(&[]));
    assert!(
        !entries(&sent_empty).iter().any(|entry| entry.contains("putter")),
        "{:?}",
        entries(&sent_empty)
    );
}

#[test]
fn entries_that_cannot_be_read_are_explained() {
    let entry = made_up("m", Some(1), r#"{"f:data":{}}"#);
    assert_eq!(check_managers(std::slice::from_ref(&entry)), Ok(()));
    let problem = |change: fn(&mut ManagedFieldsEntry)| {
        let mut broken = entry.clone();
        change(&mut broken);
        check_managers(&[entry.clone(), broken]).expect_err("it cannot be read")
    };
    assert_eq!(
        problem(|entry| entry.operation.clear()),
        "operation must be `Apply` or `Update`"
    );
    assert_eq!(
        problem(|entry| entry.api_version.clear()),
        "apiVersion must not be empty"
    );
    assert_eq!(
        problem(|entry| entry.fields_type.clear()),
        "missing fieldsType in managed fields entry 1"
    );
    assert_eq!(
        problem(|entry| entry.fields_type = "v2".to_owned()),
        r#"invalid fieldsType "v2" in managed fields entry 1"#
    );
    assert_eq!(
        problem(|entry| entry.fields_v1 = Some(FieldsV1::from_compact(br#"{"x":{}}"#.to_vec()))),
        format!(
            "error decoding versioned set from {{m Update {VERSION} 1970-01-01 00:00:01 +0000 UTC FieldsV1 \
             {{\"x\":{{}}}} }}: error decoding set: key must be 2 characters long:"
        )
    );
}
