//! Taints that pods tolerate.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;
use planesmith_machinery::validation::check_label_key;

/// A mark of nodes that does not keep a pod away.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Toleration {
    /// Key of the mark; empty, with Exists, for all marks.
    #[field(proto = 1)]
    pub key: String,
    /// Exists for any value, Equal for the given one. Equal by default. Lt and Gt compare numbers where that is
    /// switched on.
    #[field(proto = 2, known("Exists", "Equal", "Lt", "Gt"))]
    pub operator: String,
    /// Value of the mark; empty for Exists.
    #[field(proto = 3)]
    pub value: String,
    /// Effect that is tolerated: NoSchedule, PreferNoSchedule or NoExecute. All when empty.
    #[field(proto = 4, known("NoSchedule", "PreferNoSchedule", "NoExecute"))]
    pub effect: String,
    /// How long a mark with NoExecute is tolerated, in seconds; for ever when absent, not at all when 0 or less.
    #[field(proto = 5)]
    pub toleration_seconds: Option<i64>,
}

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// Reports what is wrong with the tolerations of a pod.
pub(crate) fn check_tolerations(tolerations: &[Toleration], errors: &mut FieldErrors) {
    for (index, toleration) in tolerations.iter().enumerate() {
        toleration.check(&mut errors.at_index("tolerations", index));
    }
}

impl Toleration {
    pub(crate) fn check(&self, errors: &mut FieldErrors) {
        if !self.key.is_empty() {
            check_label_key("key", &self.key, errors);
        }
        if self.key.is_empty() && self.operator != "Exists" {
            let problem = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            errors.invalid("operator", &self.operator, problem);
        }
        if self.toleration_seconds.is_some() && self.effect != "NoExecute" {
            let problem = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            errors.invalid("effect", &self.effect, problem);
        }
        match self.operator.as_str() {
            "Equal" | "" => {
                let problems = names::label_value(&self.value);
                if !problems.is_empty() {
                    errors.invalid("operator", &self.value, problems.join(";"));
                }
            }
            "Exists" if !self.value.is_empty() => {
                let problem = "value must be empty when `operator` is 'Exists'";
                errors.invalid("operator", &self.value, problem);
            }
            "Exists" => {}
            other => errors.not_supported_in_order("operator", other, &["Equal", "Exists"]),
        }
        if !self.effect.is_empty() && !EFFECTS.contains(&self.effect.as_str()) {
            errors.not_supported_in_order("effect", &self.effect, &EFFECTS);
        }
    }
}
