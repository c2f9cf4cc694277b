//! Conditions in the status of an object.

use serde_json::{Value, json};

/// The content of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionState {
    /// True for status `True`, false for `False`.
    pub holds: bool,
    /// The machine-readable reason.
    pub reason: String,
    /// The message for users.
    pub message: String,
}

impl ConditionState {
    /// A condition with status `True`.
    pub fn yes(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            holds: true,
            reason: reason.into(),
            message: message.into(),
        }
    }

    /// A condition with status `False`.
    pub fn no(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            holds: false,
            ..Self::yes(reason, message)
        }
    }
}

/// Removes the condition `name` from a status.
pub fn remove_condition(status: &mut Value, name: &str) {
    if let Some(Value::Array(conditions)) = status.get_mut("conditions") {
        conditions.retain(|condition| condition["type"] != name);
    }
}

/// Sets the condition `name` of a status to `state`. Its transition time changes only together with its status.
pub fn set_condition(status: &mut Value, name: &str, state: &ConditionState, now: &str) {
    let word = if state.holds { "True" } else { "False" };
    if status.is_null() {
        *status = json!({});
    }
    let conditions = status
        .as_object_mut()
        .map(|status| status.entry("conditions").or_insert(Value::Null));
    let Some(conditions) = conditions else { return };
    if conditions.is_null() {
        *conditions = json!([]);
    }
    let Value::Array(conditions) = conditions else { return };
    let known = conditions.iter_mut().find(|condition| condition["type"] == name);
    let Some(known) = known else {
        conditions.push(json!({
            "type": name, "status": word, "lastTransitionTime": now,
            "reason": state.reason, "message": state.message
        }));
        return;
    };
    if known["status"] != word {
        known["lastTransitionTime"] = json!(now);
    }
    known["status"] = json!(word);
    known["reason"] = json!(state.reason);
    known["message"] = json!(state.message);
}
