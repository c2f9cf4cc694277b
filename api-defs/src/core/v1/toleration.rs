//! Tolerations of pods for taints.

use planesmith_machinery::Struct;
use planesmith_machinery::feature::Features;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_format::quote;
use planesmith_machinery::names;
use planesmith_machinery::validation::check_label_key;

use crate::features::TAINT_TOLERATION_COMPARISON_OPERATORS;

/// A taint that does not repel the pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Toleration {
    /// Key of the taint. Empty, with Exists, for all taints.
    #[field(proto = 1)]
    pub key: String,
    /// Operator: Equal (the default) matches the value, Exists any value. Lt and Gt compare numbers if the feature is
    /// enabled.
    #[field(proto = 2, known("Exists", "Equal", "Lt", "Gt"), go_type = "TolerationOperator")]
    pub operator: String,
    /// Value of the taint. Empty for Exists.
    #[field(proto = 3)]
    pub value: String,
    /// Effect of the taint: NoSchedule, PreferNoSchedule or NoExecute. All effects when empty.
    #[field(
        proto = 4,
        known("NoSchedule", "PreferNoSchedule", "NoExecute"),
        go_type = "TaintEffect"
    )]
    pub effect: String,
    /// Duration in seconds for which a taint with NoExecute is tolerated. Unlimited when absent; 0 or less evicts at
    /// once.
    #[field(proto = 5)]
    pub toleration_seconds: Option<i64>,
}

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// True if any of the tolerations compares numbers.
pub(crate) fn compare_numbers(tolerations: &[Toleration]) -> bool {
    let mut operators = tolerations.iter().map(|toleration| toleration.operator.as_str());
    operators.any(|operator| matches!(operator, "Lt" | "Gt"))
}

/// True if tolerations may compare numbers: the feature is enabled, or the `old` tolerations do so.
pub(crate) fn may_compare(old: &[Toleration], features: &Features) -> bool {
    features.has(&TAINT_TOLERATION_COMPARISON_OPERATORS) || compare_numbers(old)
}

/// Reports errors in tolerations; `may_compare` permits numeric operators.
pub(crate) fn check_tolerations(tolerations: &[Toleration], may_compare: bool, errors: &mut FieldErrors) {
    for (index, toleration) in tolerations.iter().enumerate() {
        toleration.check(may_compare, &mut errors.at_index("tolerations", index));
    }
}

impl Toleration {
    /// Returns the identity of the toleration: all fields except the seconds. The exhaustive pattern makes new fields a
    /// compile error here.
    pub(crate) fn identity(&self) -> [&str; 4] {
        let Self {
            key,
            operator,
            value,
            effect,
            toleration_seconds: _,
        } = self;
        [key, operator, value, effect]
    }

    pub(crate) fn check(&self, may_compare: bool, errors: &mut FieldErrors) {
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
            "Lt" | "Gt" if may_compare => check_number(&self.value, errors),
            operator @ ("Lt" | "Gt") => {
                errors.not_supported_in_order("operator", operator, &["Equal", "Exists", "Lt", "Gt"]);
            }
            other => errors.not_supported_in_order("operator", other, &["Equal", "Exists"]),
        }
        if !self.effect.is_empty() && !EFFECTS.contains(&self.effect.as_str()) {
            errors.not_supported_in_order("effect", &self.effect, &EFFECTS);
        }
    }
}

/// Reports a value that is no 64-bit integer in canonical form.
fn check_number(value: &str, errors: &mut FieldErrors) {
    let digits = value.strip_prefix('-').unwrap_or(value);
    let decimal = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if value.is_empty() {
        errors.invalid("value", value, "must be non-empty");
    } else if !decimal || digits.starts_with('0') && value != "0" {
        errors.invalid("value", value, "must be a valid decimal integer in canonical form");
    }
    if value.parse::<i64>().is_err() {
        let problem = match value.strip_prefix(['-', '+']).unwrap_or(value) {
            digits if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => "value out of range",
            _ => "invalid syntax",
        };
        let problem = format!("strconv.ParseInt: parsing {}: {problem}", quote(value));
        errors.invalid("value", value, problem);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(operator: &str, value: &str, may_compare: bool) -> Vec<String> {
        let toleration = Toleration {
            key: "k".to_owned(),
            operator: operator.to_owned(),
            value: value.to_owned(),
            ..Toleration::default()
        };
        let mut errors = FieldErrors::default();
        check_tolerations(&[toleration], may_compare, &mut errors);
        errors.as_slice().iter().map(|error| error.message()).collect()
    }

    #[test]
    fn numbers_are_compared_where_that_is_switched_on() {
        assert_eq!(
            complaints("Gt", "5", false),
            [
                "tolerations[0].operator: Unsupported value: \"Gt\": supported values: \"Equal\", \"Exists\", \"Lt\", \"Gt\""
            ]
        );
        assert_eq!(
            complaints("gt", "5", true),
            ["tolerations[0].operator: Unsupported value: \"gt\": supported values: \"Equal\", \"Exists\""]
        );
        for value in ["0", "5", "-7", "9223372036854775807", "-9223372036854775808"] {
            assert_eq!(complaints("Lt", value, true), Vec::<String>::new(), "{value}");
        }
        const FORM: &str = "must be a valid decimal integer in canonical form";
        for (value, problems) in [
            (
                "",
                ["must be non-empty", "strconv.ParseInt: parsing \"\": invalid syntax"].as_slice(),
            ),
            ("x", &[FORM, "strconv.ParseInt: parsing \"x\": invalid syntax"]),
            ("007", &[FORM]),
            ("-0", &[FORM]),
            ("+5", &[FORM]),
            (
                "9223372036854775808",
                &["strconv.ParseInt: parsing \"9223372036854775808\": value out of range"],
            ),
        ] {
            let expected: Vec<String> = problems
                .iter()
                .map(|problem| format!("tolerations[0].value: Invalid value: \"{value}\": {problem}"))
                .collect();
            assert_eq!(complaints("Lt", value, true), expected);
        }
    }
}
