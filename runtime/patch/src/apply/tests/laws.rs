//! Laws that hold for all documents.

use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;

use super::*;
use crate::fields::Set;

fn part() -> impl Strategy<Value = (String, Value)> {
    let name = prop::sample::select(vec!["p", "q", "r"]);
    (name, any::<bool>(), 0..3, any::<bool>()).prop_map(|(name, udp, size, off)| {
        let protocol = if udp { "UDP" } else { "TCP" };
        let mut part = json!({"name": name, "off": off});
        if udp {
            part["protocol"] = json!("UDP");
        }
        if size > 0 {
            part["size"] = json!(size);
        }
        (format!("{name}/{protocol}"), part)
    })
}

fn parts() -> impl Strategy<Value = Value> {
    vec(part(), 1..4).prop_map(|parts| {
        let unique: BTreeMap<String, Value> = parts.into_iter().collect();
        Value::Array(unique.into_values().collect())
    })
}

fn letters() -> impl Strategy<Value = Vec<String>> {
    btree_set("[a-d]", 1..4)
        .prop_map(|set| set.into_iter().collect::<Vec<_>>())
        .prop_shuffle()
}

fn spec() -> impl Strategy<Value = Value> {
    // Nothing is empty: stored objects do not tell an empty list or map from none, as in kube-apiserver.
    let map = || btree_map("[a-c]", "[12]", 1..3);
    let optional = |value: BoxedStrategy<Value>| prop::option::of(value);
    (
        optional(parts().boxed()),
        optional(letters().prop_map(Value::from).boxed()),
        optional(vec("[xy]", 1..3).prop_map(Value::from).boxed()),
        optional(map().prop_map(|map| json!(map)).boxed()),
        optional(map().prop_map(|map| json!(map)).boxed()),
        optional((0..3).prop_map(Value::from).boxed()),
        optional(any::<bool>().prop_map(Value::from).boxed()),
    )
        .prop_map(|(parts, tags, args, labels, selector, replicas, paused)| {
            let fields = [
                ("parts", parts),
                ("tags", tags),
                ("args", args),
                ("labels", labels),
                ("selector", selector),
                ("replicas", replicas),
                ("paused", paused),
            ];
            let fields = fields
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?)));
            Value::Object(fields.collect())
        })
}

/// The managers apart from their times.
fn owners(thing: &Thing) -> Vec<String> {
    let mut owners = managers(thing);
    owners.sort();
    owners
}

proptest! {
    /// Applying the same again changes nothing, not even the managers of fields.
    #[test]
    fn applying_twice_is_applying_once(first in spec(), second in spec(), force in any::<bool>()) {
        let live = applied(&Thing::default(), "a", &first);
        if let Ok(once) = run(&live, "b", &second, force) {
            let twice = applied(&once, "b", &second);
            prop_assert_eq!(spec_of(&once), spec_of(&twice));
            prop_assert_eq!(once.metadata.managed_fields, twice.metadata.managed_fields);
        }
    }

    /// A lone manager gets what it says, whatever it said before.
    #[test]
    fn a_lone_manager_gets_what_it_says(before in spec(), now in spec()) {
        let fresh = applied(&Thing::default(), "a", &now);
        let after = applied(&applied(&Thing::default(), "a", &before), "a", &now);
        prop_assert_eq!(owners(&fresh), owners(&after));
        prop_assert_eq!(sorted(spec_of(&fresh)), sorted(spec_of(&after)));
    }

    /// Without force, what another manager said stays as it said it.
    #[test]
    fn nothing_of_others_changes_without_force(first in spec(), second in spec(), third in spec()) {
        let live = applied(&Thing::default(), "a", &first);
        let Ok(live) = run(&live, "b", &second, false) else { return Ok(()) };
        let owned = owners(&live).into_iter().find(|owner| owner.starts_with("a "));
        if let Ok(after) = run(&live, "b", &third, false) {
            let still = owners(&after).into_iter().find(|owner| owner.starts_with("a "));
            prop_assert_eq!(owned, still);
            // Saying it again finds no conflict: no other manager changed it.
            prop_assert!(run(&after, "a", &first, false).is_ok());
        }
    }

    /// The order of managers makes no difference when no manager forces a conflict.
    #[test]
    fn order_makes_no_difference_without_conflict(first in spec(), second in spec()) {
        let one = run(&applied(&Thing::default(), "a", &first), "b", &second, false);
        let other = run(&applied(&Thing::default(), "b", &second), "a", &first, false);
        prop_assert_eq!(one.is_ok(), other.is_ok());
        if let (Ok(one), Ok(other)) = (one, other) {
            prop_assert_eq!(owners(&one), owners(&other));
            prop_assert_eq!(sorted(spec_of(&one)), sorted(spec_of(&other)));
        }
    }

    /// A manager that releases its fields leaves those of the others, as if it had never been there.
    #[test]
    fn letting_go_undoes(first in spec(), second in spec(), third in spec()) {
        let alone = applied(&Thing::default(), "a", &first);
        let Ok(both) = run(&alone, "b", &second, false) else { return Ok(()) };
        let Ok(both) = run(&both, "b", &third, false) else { return Ok(()) };
        let after = applied(&both, "b", &json!({}));
        prop_assert_eq!(sorted(spec_of(&after)), sorted(spec_of(&alone)));
        prop_assert_eq!(owner(&after, "a"), owner(&alone, "a"));
    }

    /// A manager owns the fields that it applied, whatever others do.
    #[test]
    fn applied_fields_are_owned(first in spec(), second in spec(), force in any::<bool>()) {
        let fresh = applied(&Thing::default(), "b", &second);
        let live = applied(&Thing::default(), "a", &first);
        if let Ok(both) = run(&live, "b", &second, force) {
            prop_assert_eq!(owner(&both, "b"), owner(&fresh, "b"));
        }
    }

    /// Three managers end up with the same, whatever their order.
    #[test]
    fn three_managers_agree(specs in proptest::array::uniform3(spec())) {
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let outcomes = orders.map(|order| {
            order.into_iter().try_fold(Thing::default(), |live, index| run(&live, ["a", "b", "c"][index], &specs[index], false))
        });
        let agreed = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        prop_assert!(agreed == 0 || agreed == orders.len());
        let mut states = outcomes.iter().flatten().map(|thing| (sorted(spec_of(thing)), owners(thing)));
        if let Some(first) = states.next() {
            prop_assert!(states.all(|state| state == first));
        }
    }

    /// Force takes what the refusal names, and nothing else.
    #[test]
    fn force_takes_what_conflicts(first in spec(), second in spec()) {
        let live = applied(&Thing::default(), "a", &first);
        let named = match run(&live, "b", &second, false) {
            Ok(_) => 0,
            Err(ApplyError::Conflicts(conflicts)) => conflicts.len(),
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        let taken = forced(&live, "b", &second);
        prop_assert_eq!(fields_of(&live, "a").len() - fields_of(&taken, "a").len(), named);
    }

    /// A change by hand takes from appliers what it changes, and nothing else; they get it back only by force.
    #[test]
    fn a_change_by_hand_takes_what_it_changes(first in spec(), label in "[a-c]", value in "[12]") {
        let live = applied(&Thing::default(), "a", &first);
        let changes = live.spec.labels.get(&label).is_some_and(|before| *before != value);
        let after = updated(&live, "hand", |thing| {
            thing.spec.labels.insert(label.clone(), value.clone());
        });
        let (before, left) = (fields_of(&live, "a"), fields_of(&after, "a"));
        prop_assert_eq!(before.len() - left.len(), usize::from(changes));
        prop_assert_eq!(run(&after, "a", &first, false).is_err(), changes);
        let back = forced(&after, "a", &first);
        prop_assert_eq!(fields_of(&back, "a"), before);
    }

    /// With force the applier always gets what it says.
    #[test]
    fn force_wins(first in spec(), second in spec()) {
        let live = applied(&Thing::default(), "a", &first);
        let live = forced(&live, "b", &second);
        // Nothing is left to conflict about.
        prop_assert!(run(&live, "b", &second, false).is_ok());
        // When both let go, nothing is left at all.
        let live = applied(&applied(&live, "a", &json!({})), "b", &json!({}));
        prop_assert_eq!(spec_of(&live), json!({}));
    }
}

/// The fields that a manager owns, as they are stored.
fn owner(thing: &Thing, manager: &str) -> Option<String> {
    owners(thing)
        .into_iter()
        .find(|owner| owner.split(' ').next() == Some(manager))
}

/// The fields that a manager owns.
fn fields_of(thing: &Thing, manager: &str) -> Set<'static> {
    let mut entries = thing.metadata.managed_fields.iter();
    let entry = entries.find(|entry| entry.manager == manager);
    let fields = entry.and_then(|entry| entry.fields_v1.as_ref());
    let read = fields.and_then(|fields| Set::from_json(fields.as_str().as_bytes()).ok());
    read.map(Set::into_owned).unwrap_or_default()
}

/// The document with lists of identified elements in a fixed order.
fn sorted(mut spec: Value) -> Value {
    for list in ["parts", "tags"] {
        if let Some(Value::Array(elements)) = spec.get_mut(list) {
            elements.sort_by_key(ToString::to_string);
        }
    }
    spec
}
