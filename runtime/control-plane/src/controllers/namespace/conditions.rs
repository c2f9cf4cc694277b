//! The conditions of a terminating namespace.

use crate::conditions::{ConditionState, set_condition};
use serde_json::{Value, json};

use super::contents::Contents;

/// Returns the conditions of a namespace with these remaining contents. Conditions of other types stay, and so does
/// one whose status is unchanged.
pub(super) fn updated(conditions: &[Value], contents: &Contents, now: &str) -> Vec<Value> {
    let mut status = json!({"conditions": conditions});
    for (name, verdict) in all_conditions(contents) {
        set_condition(&mut status, name, &verdict, now);
    }
    match status["conditions"].take() {
        Value::Array(conditions) => conditions,
        _ => Vec::new(),
    }
}

/// Returns all conditions about contents, in their order.
fn all_conditions(contents: &Contents) -> [(&'static str, ConditionState); 5] {
    let fine = |name, reason: &str, message: &str| (name, ConditionState::no(reason, message));
    let wrong = |name, reason: &str, message: String| (name, ConditionState::yes(reason, message));
    let removed = "All content successfully removed";
    [
        match contents.undiscovered.is_empty() {
            true => fine(
                "NamespaceDeletionDiscoveryFailure",
                "ResourcesDiscovered",
                "All resources successfully discovered",
            ),
            false => wrong(
                "NamespaceDeletionDiscoveryFailure",
                "DiscoveryFailed",
                undiscovered(contents),
            ),
        },
        fine(
            "NamespaceDeletionGroupVersionParsingFailure",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        match contents.failures.is_empty() {
            true => fine(
                "NamespaceDeletionContentFailure",
                "ContentDeleted",
                "All content successfully deleted, may be waiting on finalization",
            ),
            false => wrong(
                "NamespaceDeletionContentFailure",
                "ContentDeletionFailed",
                failures(contents),
            ),
        },
        match contents.remaining.is_empty() {
            true => fine("NamespaceContentRemaining", "ContentRemoved", removed),
            false => wrong("NamespaceContentRemaining", "SomeResourcesRemain", remaining(contents)),
        },
        match contents.finalizers.is_empty() {
            true => fine("NamespaceFinalizersRemaining", "ContentRemoved", removed),
            false => wrong(
                "NamespaceFinalizersRemaining",
                "SomeFinalizersRemain",
                finalizers(contents),
            ),
        },
    ]
}

fn undiscovered(contents: &Contents) -> String {
    let stale = contents.undiscovered.iter();
    let stale = stale.map(|version| format!("{version}: stale GroupVersion discovery: {version}"));
    let stale: Vec<String> = stale.collect();
    format!(
        "Discovery failed for some groups, {} failing: unable to retrieve the complete list of server APIs: {}",
        stale.len(),
        stale.join(", ")
    )
}

fn failures(contents: &Contents) -> String {
    let mut failures = contents.failures.clone();
    failures.sort();
    format!(
        "Failed to delete all resource types, {} remaining: {}",
        failures.len(),
        failures.join(", ")
    )
}

fn remaining(contents: &Contents) -> String {
    let remaining = contents.remaining.iter();
    let remaining = remaining.map(|(resource, count)| format!("{resource} has {count} resource instances"));
    let remaining: Vec<String> = remaining.collect();
    format!("Some resources are remaining: {}", remaining.join(", "))
}

fn finalizers(contents: &Contents) -> String {
    let finalizers = contents.finalizers.iter();
    let finalizers = finalizers.map(|(finalizer, count)| format!("{finalizer} in {count} resource instances"));
    let finalizers: Vec<String> = finalizers.collect();
    format!(
        "Some content in the namespace has finalizers remaining: {}",
        finalizers.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held() -> Contents {
        Contents {
            remaining: [("configmaps.".to_owned(), 2)].into(),
            finalizers: [("example.com/hold".to_owned(), 2)].into(),
            failures: vec!["no b".to_owned(), "no a".to_owned()],
            undiscovered: Vec::new(),
        }
    }

    fn say(conditions: &[Value]) -> Vec<String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let line = |condition: &Value| {
            let parts = ["type", "status", "reason", "message", "lastTransitionTime"];
            parts.map(|part| text(&condition[part])).join(" | ")
        };
        conditions.iter().map(line).collect()
    }

    #[test]
    fn remaining_content_is_reported() {
        let said = say(&updated(&[], &held(), "now"));
        assert_eq!(
            said[2..],
            [
                "NamespaceDeletionContentFailure | True | ContentDeletionFailed | Failed to delete all resource types, 2 \
                 remaining: no a, no b | now",
                "NamespaceContentRemaining | True | SomeResourcesRemain | Some resources are remaining: configmaps. has 2 \
                 resource instances | now",
                "NamespaceFinalizersRemaining | True | SomeFinalizersRemain | Some content in the namespace has \
                 finalizers remaining: example.com/hold in 2 resource instances | now",
            ]
        );
    }

    #[test]
    fn a_condition_keeps_its_time_until_its_status_changes() {
        let first = updated(&[json!({"type": "Mine", "status": "True"})], &held(), "then");
        assert_eq!(updated(&first, &held(), "now"), first);
        let done = say(&updated(&first, &Contents::default(), "now"));
        assert_eq!(done[0], "Mine | True |  |  | ");
        assert!(done[1].ends_with("| then"), "{done:?}");
        assert!(done[5].ends_with("All content successfully removed | now"), "{done:?}");
    }
}
