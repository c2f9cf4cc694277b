//! Computes the status of a definition.

use serde_json::{Value, json};

use crate::definition::Definition;
use crate::names::{TakenNames, accept_names};
use planesmith_control_plane::conditions::{ConditionState, set_condition};

/// Returns the status of a definition after a decision about its names; `taken` are the names of its group, `now` is the
/// time.
///
/// As in kube-apiserver, nothing is decided while the accepted names are the requested ones, even if another condition
/// was reported before. A definition stays established whatever names it requests later.
#[must_use]
pub(crate) fn with_names(document: &Value, taken: &TakenNames, now: &str) -> Value {
    let definition = Definition::new(document);
    let mut status = match document.get("status") {
        Some(status @ Value::Object(_)) => status.clone(),
        _ => json!({}),
    };
    if definition.has_wanted_names() {
        return status;
    }
    let names = accept_names(definition, taken);
    status["acceptedNames"] = names.accepted;
    set_condition(&mut status, "NamesAccepted", &names.condition, now);
    let established = match (names.condition.holds, definition.condition("Established")) {
        (_, Some("True")) | (false, Some(_)) => return status,
        (true, _) => ConditionState::no("Installing", "the initial names have been accepted"),
        (false, None) => ConditionState::no("NotAccepted", "not all names are accepted"),
    };
    set_condition(&mut status, "Established", &established, now);
    status
}

/// Establishes a definition whose names are accepted, unless it is established; `problem` prevents that. Returns its
/// status.
#[must_use]
pub(crate) fn established(document: &Value, problem: Option<&ConditionState>, now: &str) -> Value {
    let definition = Definition::new(document);
    let mut status = document.get("status").cloned().unwrap_or_default();
    if definition.is("NamesAccepted") && !definition.is("Established") {
        let established = ConditionState::yes("InitialNamesAccepted", "the initial names have been accepted");
        set_condition(&mut status, "Established", problem.unwrap_or(&established), now);
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Settles a definition at a time.
    fn settle(definition: &mut Value, taken: &TakenNames, problem: Option<&ConditionState>, now: &str) {
        definition["status"] = with_names(definition, taken, now);
        definition["status"] = established(definition, problem, now);
    }

    fn taken(names: &Value) -> TakenNames {
        let other = json!({"metadata": {"name": "gadgets"}, "status": {"acceptedNames": names}});
        let mut taken = TakenNames::default();
        taken.take(Definition::new(&other));
        taken
    }

    /// Returns the status and reason of a condition.
    fn condition(definition: &Value, name: &str) -> Value {
        let conditions = definition["status"]["conditions"].as_array().unwrap();
        let condition = conditions.iter().find(|condition| condition["type"] == name).unwrap();
        json!([condition["status"], condition["reason"]])
    }

    #[test]
    fn a_definition_is_established_once_its_names_are_accepted() {
        let mut definition = json!({"spec": {"names": {"plural": "widgets", "kind": "Widget"}}});
        definition["status"] = with_names(&definition, &TakenNames::default(), "2026-01-01T00:00:00Z");
        assert_eq!(condition(&definition, "NamesAccepted"), json!(["True", "NoConflicts"]));
        assert_eq!(condition(&definition, "Established"), json!(["False", "Installing"]));
        settle(&mut definition, &TakenNames::default(), None, "2026-01-01T00:00:00Z");
        assert_eq!(
            condition(&definition, "Established"),
            json!(["True", "InitialNamesAccepted"])
        );
        let status = definition["status"].clone();
        settle(&mut definition, &TakenNames::default(), None, "2027-01-01T00:00:00Z");
        assert_eq!(definition["status"], status);
    }

    #[test]
    fn it_stays_established_when_it_wants_names_that_are_taken() {
        let taken = taken(&json!({"plural": "gadgets", "kind": "Gadget"}));
        let mut definition =
            json!({"metadata": {"name": "widgets"}, "spec": {"names": {"plural": "widgets", "kind": "Widget"}}});
        settle(&mut definition, &taken, None, "2026-01-01T00:00:00Z");
        definition["spec"]["names"]["kind"] = json!("Gadget");
        settle(&mut definition, &taken, None, "2027-01-01T00:00:00Z");
        let view = Definition::new(&definition);
        assert!(view.is("Established"));
        assert!(!view.is("NamesAccepted"));
        assert_eq!(view.accepted("kind"), "Widget");
        // Nothing is decided about names that are accepted already.
        definition["spec"]["names"]["kind"] = json!("Widget");
        settle(&mut definition, &taken, None, "2028-01-01T00:00:00Z");
        assert_eq!(
            condition(&definition, "NamesAccepted"),
            json!(["False", "KindConflict"])
        );
        definition["status"]["conditions"] = json!([]);
        settle(&mut definition, &taken, None, "2029-01-01T00:00:00Z");
        assert_eq!(definition["status"]["conditions"], json!([]));
    }

    #[test]
    fn a_problem_prevents_that_a_definition_is_established() {
        let problem = ConditionState::no("InvalidCABundle", "The conversion webhook CABundle is invalid");
        let mut definition = json!({"spec": {"names": {"plural": "widgets", "kind": "Widget"}}});
        settle(
            &mut definition,
            &TakenNames::default(),
            Some(&problem),
            "2026-01-01T00:00:00Z",
        );
        assert_eq!(
            condition(&definition, "Established"),
            json!(["False", "InvalidCABundle"])
        );
        settle(&mut definition, &TakenNames::default(), None, "2027-01-01T00:00:00Z");
        assert!(Definition::new(&definition).is("Established"));
    }
}
