//! Tolerations that include others.

use planesmith_api_defs::core::v1::Toleration;

/// Merges both lists, without tolerations that another one includes.
pub(super) fn merged(first: &[Toleration], second: &[Toleration]) -> Vec<Toleration> {
    let all: Vec<&Toleration> = first.iter().chain(second).collect();
    let mut merged: Vec<Toleration> = Vec::with_capacity(all.len());
    for (index, one) in all.iter().enumerate() {
        let said_before = merged.iter().any(|other| covers(other, one));
        // Of two that are equal the first stays.
        let said_later = all[index + 1..].iter().any(|other| other != one && covers(other, one));
        if !said_before && !said_later {
            merged.push((*one).clone());
        }
    }
    merged
}

/// True if every taint that `one` tolerates is tolerated by `other`.
pub(super) fn covers(other: &Toleration, one: &Toleration) -> bool {
    if one == other {
        return true;
    }
    let takes_every_key = other.key.is_empty() && other.operator == "Exists";
    if one.key != other.key && !takes_every_key || one.effect != other.effect && !other.effect.is_empty() {
        return false;
    }
    if other.effect == "NoExecute"
        && let Some(limit) = other.toleration_seconds
        && one.toleration_seconds.is_none_or(|seconds| seconds > limit)
    {
        return false;
    }
    match other.operator.as_str() {
        "" | "Equal" => one.operator == "Equal" && one.value == other.value,
        "Exists" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "cases are written in place")]
    fn tolerations(value: Value) -> Vec<Toleration> {
        let value = json!({"metadata": {"name": "p"}, "spec": {"tolerations": value}});
        let pod: planesmith_api_defs::core::v1::Pod = crate::admission::testing::object(value);
        pod.spec.tolerations
    }

    #[test]
    fn a_repeated_toleration_is_listed_once() {
        let keyed = || json!({"key": "a", "operator": "Equal", "value": "1", "effect": "NoExecute"});
        let own = tolerations(json!([keyed()]));
        assert_eq!(merged(&own, &own), own);
        let wide = tolerations(json!([{"key": "a", "operator": "Exists"}]));
        assert_eq!(merged(&own, &wide), wide);
        let other = tolerations(json!([{"key": "b", "operator": "Exists"}]));
        assert_eq!(merged(&own, &other).len(), 2);
        let short = json!({"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5});
        assert_eq!(merged(&own, &tolerations(json!([short]))).len(), 2);
    }
}
