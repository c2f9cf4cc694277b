//! What may change in a pod, and through which subresource.

use planesmith_machinery::rules::Rules as _;
use serde_json::{Value, json};

use super::{changed, found, pod};

/// The complaints about a change of `before` to `after`, up to the first line break.
fn first(before: Value, after: Value) -> String {
    let old = pod(before);
    let new = changed(&old, after);
    let found = found(|errors| new.validate_replacement(&old, errors));
    found.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn few_fields_of_a_pod_change() {
    let other = "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,\
                 `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to \
                 existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was \
                 previously negative)";
    let toleration = json!([{"key": "a", "operator": "Exists", "effect": "NoExecute"}]);
    let shorter = json!([{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}]);
    let cases = [
        (
            json!({}),
            json!({"containers": [{"name": "c", "image": "i:2", "imagePullPolicy": "IfNotPresent"}]}),
            "",
        ),
        (json!({}), json!({"hostname": "h"}), other),
        (json!({}), json!({"activeDeadlineSeconds": 5}), ""),
        (
            json!({"activeDeadlineSeconds": 5}),
            json!({"activeDeadlineSeconds": 6}),
            "spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value",
        ),
        (json!({"tolerations": toleration}), json!({"tolerations": shorter}), ""),
        (
            json!({"tolerations": toleration}),
            json!({"tolerations": []}),
            "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds",
        ),
        (
            json!({}),
            json!({"schedulingGates": [{"name": "g"}]}),
            "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'g'",
        ),
        (
            json!({"terminationGracePeriodSeconds": -1}),
            json!({"terminationGracePeriodSeconds": 1}),
            "",
        ),
        (json!({}), json!({"terminationGracePeriodSeconds": 1}), other),
        (
            json!({"schedulingGates": [{"name": "g"}]}),
            json!({"nodeSelector": {"a": "b"}}),
            "",
        ),
        (
            json!({"schedulingGates": [{"name": "g"}], "nodeSelector": {"a": "b"}}),
            json!({"nodeSelector": {"a": "c"}}),
            "spec.nodeSelector: Invalid value: {\"a\":\"c\"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)",
        ),
        (json!({}), json!({"nodeSelector": {"a": "b"}}), other),
        (json!({}), json!({"containers": []}), "spec.containers: Required value"),
    ];
    for (before, after, expected) in cases {
        assert_eq!(first(before, after.clone()), expected, "{after}");
    }
}

#[test]
fn what_late_rules_forbid_stays_where_it_was() {
    let odd = json!({"containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": "1", "hugepages-2Mi": "3Mi"}}}]});
    assert_eq!(first(odd, json!({"activeDeadlineSeconds": 5})), "");
}

fn with_resources(resources: &Value) -> Value {
    json!({"containers": [{"name": "c", "image": "i:1", "resources": resources}]})
}

#[test]
fn processor_and_memory_can_be_resized() {
    let before = json!({"requests": {"cpu": "1"}, "limits": {"cpu": "2"}});
    let cases = [
        (json!({"requests": {"cpu": "2"}, "limits": {"cpu": "2"}}), ""),
        (
            json!({"requests": {"cpu": "1"}}),
            "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed",
        ),
        (
            json!({"requests": {"cpu": "1", "ephemeral-storage": "1"}, "limits": {"cpu": "2"}}),
            "spec: Forbidden: only cpu and memory resources are mutable",
        ),
        (
            json!({}),
            "spec: Invalid value: \"Burstable\": Pod QOS Class may not change as a result of resizing",
        ),
    ];
    let old = pod(with_resources(&before));
    for (after, expected) in cases {
        let mut new = changed(&old, with_resources(&after));
        new.spec.hostname = "ignored".to_owned();
        new.keep_all_but_resources(&old);
        let found = found(|errors| new.check_resize(&old, errors));
        assert_eq!(found.lines().next().unwrap_or_default(), expected, "{after}");
    }
}

#[test]
fn what_pods_ask_for_as_a_whole_can_be_resized() {
    let spec = |resources: &Value| json!({"containers": [{"name": "c", "image": "i:1"}], "resources": resources});
    let old = pod(spec(&json!({"requests": {"cpu": "1"}, "limits": {"cpu": "2"}})));
    let cases = [
        (json!({"requests": {"cpu": "1"}, "limits": {"cpu": "3"}}), ""),
        (
            json!({"requests": {"cpu": "1"}}),
            "spec.resources.limits: Forbidden: resource limits cannot be removed",
        ),
    ];
    for (after, expected) in cases {
        let mut new = changed(&old, spec(&after));
        new.keep_all_but_resources(&old);
        let found = found(|errors| new.check_resize(&old, errors));
        assert_eq!(found.lines().next().unwrap_or_default(), expected, "{after}");
    }
}

#[test]
fn ephemeral_containers_are_added_and_stay() {
    let old = pod(json!({}));
    let mut one = changed(
        &old,
        json!({"ephemeralContainers": [{"name": "e", "image": "i"}], "hostname": "ignored"}),
    );
    one.keep_all_but_ephemeral_containers(&old);
    assert_eq!(found(|errors| one.check_ephemeral_containers(&old, errors)), "");
    let none = changed(&one, json!({"ephemeralContainers": []}));
    assert_eq!(
        found(|errors| none.check_ephemeral_containers(&one, errors)),
        "spec.ephemeralContainers: Forbidden: existing ephemeral containers \"e\" may not be removed\n"
    );
    let ports = json!([{"name": "c", "image": "i", "ports": [{"containerPort": 1}], "targetContainerName": "x"}]);
    let wrong = changed(&old, json!({"ephemeralContainers": ports}));
    assert_eq!(
        found(|errors| wrong.check_ephemeral_containers(&old, errors)),
        "spec.ephemeralContainers[0].name: Duplicate value: \"c\"\n\
         spec.ephemeralContainers[0].targetContainerName: Not found: \"x\"\n\
         spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container"
    );
}

#[test]
fn pods_end_gracefully_once_they_run_somewhere() {
    let mut pod = pod(json!({}));
    assert_eq!(pod.grace_period(Some(60)), Some(0));
    pod.spec.node_name = "n".to_owned();
    let cases = [(None, 30), (Some(60), 60), (Some(0), 0), (Some(-5), 1)];
    for (requested, expected) in cases {
        assert_eq!(pod.grace_period(requested), Some(expected));
    }
    pod.status.phase = "Failed".to_owned();
    assert_eq!(pod.grace_period(None), Some(0));
}
