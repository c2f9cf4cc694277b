//! Conditions of definitions.

use serde_json::{Value, json};

/// What a condition says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// `True` or `False`.
    pub holds: bool,
    /// One word for programs.
    pub reason: String,
    /// The same for people.
    pub message: String,
}

impl Verdict {
    /// The condition holds.
    pub fn yes(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            holds: true,
            reason: reason.into(),
            message: message.into(),
        }
    }

    /// It does not.
    pub fn no(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            holds: false,
            ..Self::yes(reason, message)
        }
    }
}

/// Says nothing in the condition `name` of a status any more.
pub fn remove_condition(status: &mut Value, name: &str) {
    if let Some(Value::Array(conditions)) = status.get_mut("conditions") {
        conditions.retain(|condition| condition["type"] != name);
    }
}

/// Says `verdict` in the condition `name` of a status. Its time is that of the last change of True to False or back.
pub fn set_condition(status: &mut Value, name: &str, verdict: &Verdict, now: &str) {
    let word = if verdict.holds { "True" } else { "False" };
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
            "reason": verdict.reason, "message": verdict.message
        }));
        return;
    };
    if known["status"] != word {
        known["lastTransitionTime"] = json!(now);
    }
    known["status"] = json!(word);
    known["reason"] = json!(verdict.reason);
    known["message"] = json!(verdict.message);
}
