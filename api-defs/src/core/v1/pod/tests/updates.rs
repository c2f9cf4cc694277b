//! Updates of pods: mutable fields and the subresources that change them.

use planesmith_machinery::strategy::{Context, StrategyExtensions as _};
use serde_json::{Value, json};

use super::{changed, found, merge, pod};

/// Returns the errors of a change from `before` to `after`, up to the first line break.
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
fn node_selections_of_gated_pods_are_printed_with_names_of_go() {
    const ADDITIONS: &str = "only additions are allowed (no mutations or deletions)";
    const LIST: &str = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
    let gated = |selection: Value| {
        let mut spec = json!({"schedulingGates": [{"name": "g"}]});
        merge(&mut spec, selection);
        spec
    };
    let terms = |terms: Value| {
        let required = json!({"nodeSelectorTerms": terms});
        gated(json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}))
    };
    let term = |values: Value| json!({"matchExpressions": [{"key": "a", "operator": "In", "values": values}]});
    let field = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
    let shown = r#"{"MatchExpressions":[{"Key":"a","Operator":"In","Values":["c"]}],"MatchFields":null}"#;
    let before = terms(json!([term(json!(["b"]))]));
    let cases = [
        (
            before.clone(),
            terms(json!([term(json!(["c"]))])),
            format!("{field}[0]: Invalid value: {shown}: {ADDITIONS}"),
        ),
        (
            before.clone(),
            terms(json!([term(json!(["c"])), term(json!(["c"]))])),
            format!("{field}: Invalid value: [{shown},{shown}]: {LIST}"),
        ),
        (
            before,
            gated(json!({"affinity": null})),
            format!("{field}: Invalid value: null: {LIST}"),
        ),
        (
            gated(json!({"nodeSelector": {"a": "b"}})),
            gated(json!({"nodeSelector": null})),
            "spec.nodeSelector: Invalid value: null: only additions to spec.nodeSelector are allowed (no mutations or \
             deletions)"
                .to_owned(),
        ),
    ];
    for (before, after, expected) in cases {
        assert_eq!(first(before, after.clone()), expected, "{after}");
    }
}

#[test]
fn values_that_newer_rules_forbid_may_stay() {
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
        new.keep_all_but_resources(&Context::default(), &old);
        let found = found(|errors| new.check_resize(&old, errors));
        assert_eq!(found.lines().next().unwrap_or_default(), expected, "{after}");
    }
}

#[test]
fn containers_that_prepare_the_pod_can_be_resized() {
    let init = |amount: &str, image: &str, policy: &str| {
        let policy = json!([{"resourceName": "cpu", "restartPolicy": policy}]);
        json!({"initContainers": [{"name": "i", "image": image, "resizePolicy": policy,
            "resources": {"requests": {"cpu": amount}}}]})
    };
    let resized = |before: Value, after: Value| {
        let old = pod(before);
        let new = changed(&old, after);
        found(|errors| new.check_resize(&old, errors))
    };
    let before = init("1", "i:1", "NotRequired");
    assert_eq!(resized(before.clone(), init("2", "i:1", "NotRequired")), "");
    assert_eq!(
        resized(before, init("1", "i:2", "NotRequired")),
        "spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable"
    );
    let before = init("1", "i:1", "RestartContainer");
    assert_eq!(
        resized(before, init("2", "i:1", "RestartContainer")),
        "spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of RestartContainer \
         cannot be resized"
    );
}

#[test]
fn containers_that_run_once_are_not_started_again_unless_that_was_stored() {
    let spec = |image: &str, restarts: Option<&str>| {
        json!({"initContainers": [{"name": "i", "image": image, "restartPolicy": restarts,
            "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]}]})
    };
    assert_eq!(
        first(json!({}), spec("i:1", None)),
        "spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: \"RestartContainer\": must not be set to \
         'RestartContainer' for non-sidecar initContainers"
    );
    assert_eq!(first(spec("i:1", None), spec("i:2", None)), "");
    assert_eq!(first(spec("i:1", Some("Always")), spec("i:2", Some("Always"))), "");
}

#[test]
fn pod_level_resources_can_be_resized() {
    let spec = |resources: &Value| json!({"containers": [{"name": "c", "image": "i:1"}], "resources": resources});
    let old = pod(spec(&json!({"requests": {"cpu": "1"}, "limits": {"cpu": "2"}})));
    let cases = [
        (json!({"requests": {"cpu": "1"}, "limits": {"cpu": "3"}}), ""),
        (
            json!({"requests": {"cpu": "1"}}),
            "spec.resources.limits: Forbidden: pod-level resource limits cannot be removed",
        ),
        (
            json!(null),
            "spec: Invalid value: \"Burstable\": Pod QOS Class may not change as a result of resizing",
        ),
        (
            json!({"requests": {"cpu": "1"}, "limits": {"cpu": "2", "memory": "1Gi"}}),
            "",
        ),
        (
            json!({"requests": {"cpu": "1", "hugepages-2Mi": "2Mi"}, "limits": {"cpu": "2", "hugepages-2Mi": "2Mi"}}),
            "spec: Forbidden: only cpu and memory resources are mutable at pod-level",
        ),
    ];
    for (after, expected) in cases {
        let mut new = changed(&old, spec(&after));
        new.keep_all_but_resources(&Context::default(), &old);
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
    one.keep_all_but_ephemeral_containers(&Context::default(), &old);
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
fn a_gate_that_comes_twice_is_refused_once() {
    let old = pod(json!({}));
    let new = changed(&old, json!({"schedulingGates": [{"name": "g"}, {"name": "g"}]}));
    let found = found(|errors| new.validate_replacement(&old, errors));
    let refused = found.lines().filter(|line| line.contains("found new scheduling gate"));
    let places: Vec<_> = refused.filter_map(|line| line.split_once(": ")).collect();
    assert_eq!(places.len(), 1, "{found}");
    assert_eq!(places[0].0, "spec.schedulingGates[1].name");
}

#[test]
fn pods_end_gracefully_once_they_run_somewhere() {
    let early = pod(json!({"terminationGracePeriodSeconds": -5}));
    assert_eq!(early.spec.termination_grace_period_seconds, Some(1));
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

#[test]
fn statuses_are_checked() {
    let mut old = pod(json!({
        "nodeName": "n", "restartPolicy": "Never",
        "containers": [
            {"name": "c", "image": "i:1", "resources": {"limits": {"example.com/d": "1"}}},
            {"name": "r", "image": "i:1", "restartPolicy": "Never", "restartPolicyRules": [
                {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}},
            ]},
        ],
    }));
    old.status = serde_json::from_value(json!({
        "podIPs": [{"ip": "010.0.0.1"}],
        "containerStatuses": [
            {"name": "c", "state": {"terminated": {"exitCode": 42}}},
            {"name": "r", "state": {"terminated": {"exitCode": 42}}},
        ],
    }))
    .unwrap();
    let mapping = json!({"containerName": "c", "resourceName": "example.com/d", "requestName": "r"});
    let ended = json!([
        {"name": "c", "state": {"terminated": {"exitCode": 42}}},
        {"name": "r", "state": {"terminated": {"exitCode": 42}}},
    ]);
    let cases = [
        (json!({}), ""),
        (json!({"podIPs": [{"ip": "010.0.0.1"}]}), ""),
        (
            json!({"podIPs": [{"ip": "010.0.0.2"}]}),
            "status.podIPs[0]: Invalid value: \"010.0.0.2\": must not have leading 0s",
        ),
        (
            json!({"nominatedNodeName": "other"}),
            "status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node",
        ),
        (
            json!({"observedGeneration": -1, "conditions": [{"type": "a b", "observedGeneration": -2}]}),
            "status.conditions[0].observedGeneration: Invalid value: -2: must be a non-negative integer\n\
             status.conditions[0].Type: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')\n\
             status.observedGeneration: Invalid value: -1: must be a non-negative integer",
        ),
        (
            json!({"containerStatuses": [{"name": "c"}, {"name": "r"}]}),
            "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state",
        ),
        (
            json!({"extendedResourceClaimStatus": {"requestMappings": []}}),
            "status.extendedResourceClaimStatus.requestMappings: Required value: at least one request mapping is required\n\
             status.extendedResourceClaimStatus.resourceClaimName: Required value",
        ),
        (
            json!({"extendedResourceClaimStatus": {"resourceClaimName": "n", "requestMappings": [mapping, mapping, {"containerName": "x", "requestName": "r"}, {"containerName": "r", "requestName": "r"}]}}),
            "status.extendedResourceClaimStatus.requestMappings[1].containerName: Duplicate value: \"c\"\n\
             status.extendedResourceClaimStatus.requestMappings[1].resourceName: Duplicate value: \"example.com/d\"\n\
             status.extendedResourceClaimStatus.requestMappings[1].requestName: Duplicate value: \"r\"\n\
             status.extendedResourceClaimStatus.requestMappings[2].containerName: Invalid value: \"x\": must match the name of an entry in spec.initContainers.name or spec.containers.name\n\
             status.extendedResourceClaimStatus.requestMappings[3].resourceName: Invalid value: \"\": must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests",
        ),
        (
            json!({"ephemeralContainerStatuses": [{"name": "e", "allocatedResourcesStatus": [{"name": "cpu"}]}]}),
            "status.ephemeralContainerStatuses[0].allocatedResourcesStatus: Forbidden: must not be specified in container status",
        ),
    ];
    for (members, expected) in cases {
        let mut status = json!({"containerStatuses": ended});
        super::merge(&mut status, members);
        let mut new = old.clone();
        new.status = serde_json::from_value(status.clone()).unwrap();
        assert_eq!(
            found(|errors| new.check_status_update(&old, errors)),
            expected,
            "{status}"
        );
    }
}

#[test]
fn containers_keep_their_names_while_they_are_resized() {
    let old = pod(json!({}));
    let renamed = changed(&old, json!({"containers": [{"name": "other", "image": "i:1"}]}));
    assert_eq!(
        found(|errors| renamed.check_resize(&old, errors)),
        "spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize"
    );
    let more = changed(
        &old,
        json!({"containers": [{"name": "c", "image": "i:1"}, {"name": "d", "image": "i:1"}]}),
    );
    assert_eq!(
        found(|errors| more.check_resize(&old, errors)),
        "spec.containers: Forbidden: containers may not be added or removed on resize"
    );
}
