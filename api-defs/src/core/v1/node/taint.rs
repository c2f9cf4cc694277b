//! Taints of nodes.

use std::collections::BTreeSet;

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::{FieldError, FieldErrorKind, FieldErrors, go_object};
use planesmith_machinery::names;
use planesmith_machinery::time::Time;

/// Legal effects of a taint.
const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// A mark on a node that repels pods that do not tolerate it.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Taint {
    /// Key of the taint, which tolerations match.
    #[field(proto = 1, keep)]
    pub key: String,
    /// Value of the taint, which tolerations can match.
    #[field(proto = 2)]
    pub value: String,
    /// Effect on pods without a toleration: NoSchedule keeps new pods off the node, PreferNoSchedule does so if another
    /// node is suitable, NoExecute also evicts running pods.
    #[field(
        proto = 3,
        keep,
        known("NoSchedule", "PreferNoSchedule", "NoExecute"),
        go_type = "TaintEffect"
    )]
    pub effect: String,
    /// Time when the taint was added, from which the tolerationSeconds of pods are counted.
    #[field(proto = 4)]
    pub time_added: Option<Time>,
}

/// Path of the taints of a node in errors. As in kube-apiserver, it is their former place in the metadata.
pub(super) const FIELD: &str = "metadata.taints";

/// Reports errors in the taints of a node, which are at the path `field`.
pub(super) fn check(field: &str, taints: &[Taint], errors: &mut FieldErrors) {
    let mut seen = BTreeSet::new();
    for (index, taint) in taints.iter().enumerate() {
        let mut errors = errors.at_index(field, index);
        for problem in names::qualified_name(&taint.key) {
            errors.invalid("key", taint.key.as_str(), problem);
        }
        let problems = names::label_value(&taint.value);
        if !problems.is_empty() {
            errors.invalid("value", taint.value.as_str(), problems.join(";"));
        }
        match taint.effect.as_str() {
            "" => errors.required("effect", ""),
            effect if !EFFECTS.contains(&effect) => errors.not_supported_in_order("effect", effect, &EFFECTS),
            _ => {}
        }
        if !seen.insert((&taint.key, &taint.effect)) {
            let field = errors.prefix().to_owned();
            errors.push(FieldError {
                field,
                kind: FieldErrorKind::Duplicate,
                value: taint.rendered(),
                detail: "taints must be unique by key and effect pair".to_owned(),
            });
        }
    }
}

impl Taint {
    /// Renders the taint for error messages.
    fn rendered(&self) -> String {
        let time = self.time_added.as_ref().map(ToString::to_string);
        go_object([
            ("Key", Some(self.key.as_str())),
            ("Value", Some(self.value.as_str())),
            ("Effect", Some(self.effect.as_str())),
            ("TimeAdded", time.as_deref()),
        ])
    }
}
