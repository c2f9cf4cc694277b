//! Deprecated node labels.

use planesmith_machinery::meta::LabelSelector;
use planesmith_machinery::names;

use super::NodeSelectorTerm;

/// The labels, their replacements and the warnings about them.
const OLD_LABELS: [(&str, &str, &str); 5] = [
    (
        "beta.kubernetes.io/arch",
        "kubernetes.io/arch",
        "deprecated since v1.14; use \"kubernetes.io/arch\" instead",
    ),
    (
        "beta.kubernetes.io/os",
        "kubernetes.io/os",
        "deprecated since v1.14; use \"kubernetes.io/os\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/region",
        "topology.kubernetes.io/region",
        "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        "topology.kubernetes.io/zone",
        "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
    ),
    (
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
        "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead",
    ),
];

/// Returns the warning about a deprecated node label; `None` for other labels.
pub(crate) fn old_node_label(label: &str) -> Option<&'static str> {
    OLD_LABELS
        .iter()
        .find(|(old, ..)| *old == label)
        .map(|(_, _, words)| *words)
}

/// Returns the replacement of a deprecated node label.
pub(crate) fn new_node_label(label: &str) -> Option<&'static str> {
    let (_, new, _) = OLD_LABELS.iter().find(|(old, ..)| *old == label)?;
    Some(new)
}

/// Returns warnings about requirements on deprecated node labels and, if `check_values` is set, about values that are
/// no legal label values; `path` is the path of the term.
pub(crate) fn of_node_selector_term(term: &NodeSelectorTerm, check_values: bool, path: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    for (index, requirement) in term.match_expressions.iter().enumerate() {
        let path = format!("{path}.matchExpressions[{index}]");
        warnings.extend(of_requirement(&path, &requirement.key));
        for (position, value) in requirement.values.iter().enumerate().filter(|_| check_values) {
            for problem in names::label_value(value) {
                warnings.push(format!("{path}.values[{position}]: {value} is invalid, {problem}"));
            }
        }
    }
    warnings
}

/// Returns warnings about deprecated node labels in a label selector at `path`.
pub(crate) fn of_node_label_selector(selector: &LabelSelector, path: &str) -> Vec<String> {
    let requirements = selector.match_expressions.iter().enumerate();
    let requirements = requirements.filter_map(|(index, requirement)| {
        of_requirement(&format!("{path}.matchExpressions[{index}]"), &requirement.key)
    });
    let labels = selector.match_labels.keys();
    let labels = labels.filter_map(|label| Some(format!("{path}.matchLabels.{label}: {}", old_node_label(label)?)));
    requirements.chain(labels).collect()
}

fn of_requirement(path: &str, key: &str) -> Option<String> {
    Some(format!("{path}.key: {key} is {}", old_node_label(key)?))
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::meta::LabelSelectorRequirement;

    use super::*;

    #[test]
    fn selectors_are_warned_of_at_keys_and_labels() {
        let selector = LabelSelector {
            match_labels: [("beta.kubernetes.io/os", "linux"), ("app", "web")]
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .into(),
            match_expressions: vec![LabelSelectorRequirement {
                key: "beta.kubernetes.io/arch".to_owned(),
                operator: "Exists".to_owned(),
                values: Vec::new(),
            }],
        };
        assert_eq!(
            of_node_label_selector(&selector, "nodeTopology"),
            [
                "nodeTopology.matchExpressions[0].key: beta.kubernetes.io/arch is deprecated since v1.14; use \
                 \"kubernetes.io/arch\" instead",
                "nodeTopology.matchLabels.beta.kubernetes.io/os: deprecated since v1.14; use \"kubernetes.io/os\" \
                 instead"
            ]
        );
    }
}
