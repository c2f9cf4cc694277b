//! Computes the status of a definition.

use serde_json::{Value, json};

use crate::definition::Definition;
use crate::names::{TakenNames, accept_names};
use planesmith_control_plane::conditions::{ConditionState, set_condition};

/// Returns the new status of a definition; `taken` are the names of its group, `now` is the time.
///
/// A definition is established once its names are accepted, and stays established whatever names it requests later.
#[must_use]
pub fn settled(document: &Value, taken: &TakenNames, now: &str) -> Value {
    let definition = Definition::new(document);
    let names = accept_names(definition, taken);
    let mut status = match document.get("status") {
        Some(status @ Value::Object(_)) => status.clone(),
        _ => json!({}),
    };
    status["acceptedNames"] = names.accepted;
    set_condition(&mut status, "NamesAccepted", &names.condition, now);
    if !definition.is("Established") {
        let established = match names.condition.holds {
            true => ConditionState::yes("InitialNamesAccepted", "the initial names have been accepted"),
            false => ConditionState::no("NotAccepted", "not all names are accepted"),
        };
        set_condition(&mut status, "Established", &established, now);
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_established_once_its_names_are_accepted() {
        let mut definition = json!({"spec": {"names": {"plural": "widgets", "kind": "Widget"}}});
        let status = settled(&definition, &TakenNames::default(), "2026-01-01T00:00:00Z");
        definition["status"] = status.clone();
        assert!(Definition::new(&definition).is("Established"));
        assert_eq!(
            settled(&definition, &TakenNames::default(), "2027-01-01T00:00:00Z"),
            status
        );
    }

    #[test]
    fn it_stays_established_when_it_wants_names_that_are_taken() {
        let other = json!({"metadata": {"name": "gadgets"}, "status": {"acceptedNames": {"plural": "gadgets", "kind": "Gadget"}}});
        let mut taken = TakenNames::default();
        taken.take(Definition::new(&other));
        let mut definition =
            json!({"metadata": {"name": "widgets"}, "spec": {"names": {"plural": "widgets", "kind": "Widget"}}});
        definition["status"] = settled(&definition, &taken, "2026-01-01T00:00:00Z");
        definition["spec"]["names"]["kind"] = json!("Gadget");
        definition["status"] = settled(&definition, &taken, "2027-01-01T00:00:00Z");
        let view = Definition::new(&definition);
        assert!(view.is("Established"));
        assert!(!view.is("NamesAccepted"));
        assert_eq!(view.accepted("kind"), "Widget");
    }
}
