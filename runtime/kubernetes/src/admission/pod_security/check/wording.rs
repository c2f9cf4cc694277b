//! Phrases that all checks use.

use std::collections::BTreeSet;

use super::super::super::any_container::{AnyContainer, containers};
use super::{Checked, Violation};

/// `container "a"` or `containers "a", "b"`.
pub(super) fn named(one: &str, many: &str, names: &[&str]) -> String {
    let word = if names.len() == 1 { one } else { many };
    format!("{word} {}", quoted(names))
}

/// As [`named`], for containers.
pub(super) fn named_containers(names: &[&str]) -> String {
    named("container", "containers", names)
}

/// `"a", "b"`.
pub(super) fn quoted<T: AsRef<str>>(texts: &[T]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| format!("\"{}\"", text.as_ref())).collect();
    quoted.join(", ")
}

/// As [`quoted`], of a set.
pub(super) fn quoted_set(texts: &BTreeSet<&str>) -> String {
    quoted(&texts.iter().collect::<Vec<_>>())
}

/// Returns the names of the containers that are `bad`.
pub(super) fn bad_containers<'p>(pod: Checked<'p>, mut bad: impl FnMut(&AnyContainer<'p>) -> bool) -> Vec<&'p str> {
    containers(pod.spec)
        .filter(|container| bad(container))
        .map(|container| container.name)
        .collect()
}

/// Names the parts of a pod that set something: `pod and container "a"`; `None` if no part does.
pub(super) fn setters(pod: bool, containers: &[&str]) -> Option<String> {
    let containers = (!containers.is_empty()).then(|| named_containers(containers));
    match (pod, containers) {
        (true, Some(containers)) => Some(format!("pod and {containers}")),
        (true, None) => Some("pod".to_owned()),
        (false, containers) => containers,
    }
}

/// A violation.
pub(super) fn violation(reason: &'static str, detail: String) -> Option<Violation> {
    Some(Violation { reason, detail })
}
