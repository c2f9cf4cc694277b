//! Limits how long pods stay on nodes that are not ready or unreachable.

use planesmith_access::admission::{AdmissionFuture, Attributes, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::core::v1::{Pod, Toleration};

const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

/// Adds tolerations with a limit to pods that do not set their own.
pub(super) struct DefaultTolerationSeconds {
    pub(super) not_ready: i64,
    pub(super) unreachable: i64,
}

impl Plugin for DefaultTolerationSeconds {
    fn name(&self) -> &'static str {
        "DefaultTolerationSeconds"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        matches!(operation, Operation::Create | Operation::Update) && phase == Phase::Mutating
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        if attributes.subresource.is_empty()
            && let Some(pod) = objects.new_as_mut::<Pod>()
        {
            // Both are searched before any is added.
            let missing: Vec<_> = [(NOT_READY, self.not_ready), (UNREACHABLE, self.unreachable)]
                .into_iter()
                .filter(|(key, _)| !tolerates(&pod.spec.tolerations, key))
                .collect();
            for (key, seconds) in missing {
                pod.spec.tolerations.push(Toleration {
                    key: key.to_owned(),
                    operator: "Exists".to_owned(),
                    effect: "NoExecute".to_owned(),
                    toleration_seconds: Some(seconds),
                    ..Toleration::default()
                });
            }
        }
        decided(Ok(()))
    }
}

fn tolerates(tolerations: &[Toleration], key: &str) -> bool {
    let own_or_none = |text: &str, own: &str| text.is_empty() || text == own;
    tolerations
        .iter()
        .any(|toleration| own_or_none(&toleration.key, key) && own_or_none(&toleration.effect, "NoExecute"))
}

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "values that are written in place are passed on as they are"
)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::admission::testing::{Request, object};

    const PLUGIN: DefaultTolerationSeconds = DefaultTolerationSeconds {
        not_ready: 300,
        unreachable: 20,
    };

    fn seconds(tolerations: serde_json::Value) -> Vec<(String, Option<i64>)> {
        let pod: Pod = object(json!({"spec": {"tolerations": tolerations}}));
        let pod = Request::create::<Pod>().created(&PLUGIN, pod).unwrap();
        let tolerations = pod.spec.tolerations.into_iter();
        tolerations.map(|one| (one.key, one.toleration_seconds)).collect()
    }

    #[test]
    fn missing_tolerations_are_added() {
        let both = [(NOT_READY.to_owned(), Some(300)), (UNREACHABLE.to_owned(), Some(20))];
        assert_eq!(seconds(json!([])), both);
        let own = json!([{"key": NOT_READY, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}]);
        assert_eq!(seconds(own), [(NOT_READY.to_owned(), Some(1)), both[1].clone()]);
        assert_eq!(seconds(json!([{"operator": "Exists"}])), [(String::new(), None)]);
        assert_eq!(seconds(json!([{"key": NOT_READY, "effect": "NoSchedule"}])).len(), 3);
    }
}
