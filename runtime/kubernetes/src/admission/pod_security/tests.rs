use serde_json::{Value, json};

use super::*;
use crate::admission::testing::{Few, Request, object};
use planesmith_server::metrics::Metrics;

fn namespace(name: &str, labels: &[(&str, &str)]) -> Namespace {
    let labels: serde_json::Map<String, Value> = labels
        .iter()
        .map(|(name, value)| (format!("{PREFIX}{name}"), json!(value)))
        .collect();
    object(json!({"metadata": {"name": name, "labels": labels}}))
}

fn plugin(labels: &[(&str, &str)], pods: &[Pod]) -> PodSecurity {
    let space = serde_json::to_value(json!({"metadata": {"name": "ns"}})).unwrap();
    let mut few = Few::default();
    let mut value = space;
    let labels: serde_json::Map<String, Value> = labels
        .iter()
        .map(|(name, value)| (format!("{PREFIX}{name}"), json!(value)))
        .collect();
    value["metadata"]["labels"] = json!(labels);
    few = few.with::<Namespace>(value);
    for pod in pods {
        let text = planesmith_machinery::json::to_vec(pod);
        few = few.with::<Pod>(serde_json::from_slice(&text).unwrap());
    }
    PodSecurity::new(few.lister(), None).unwrap()
}

fn pod(name: &str, spec: Value) -> Pod {
    object(json!({"metadata": {"name": name, "namespace": "ns"}, "spec": spec}))
}

#[test]
fn a_pod_that_violates_the_level_of_its_namespace_is_refused() {
    let plugin = plugin(&[("enforce", "baseline")], &[]);
    let create = |spec: Value| Request::create::<Pod>().created(&plugin, pod("p", spec));
    assert!(create(json!({"containers": [{"name": "c"}]})).is_ok());
    assert_eq!(
        create(json!({"hostNetwork": true, "hostPID": true})).unwrap_err(),
        "pods \"p\" is forbidden: violates PodSecurity \"baseline:latest\": host namespaces (hostNetwork=true, \
         hostPID=true)"
    );
}

#[test]
fn warnings_come_with_what_is_admitted() {
    let plugin = plugin(
        &[
            ("enforce", "baseline"),
            ("warn", "restricted"),
            ("warn-version", "v1.7"),
        ],
        &[],
    );
    let request = Request::create::<Pod>();
    assert!(
        request
            .created(&plugin, pod("p", json!({"containers": [{"name": "c"}]})))
            .is_ok()
    );
    assert_eq!(
        request.warned(),
        [
            "would violate PodSecurity \"restricted:v1.7\": runAsNonRoot != true (pod or container \"c\" must set \
             securityContext.runAsNonRoot=true)"
        ]
    );
    let request = Request::create::<Pod>();
    assert!(request.created(&plugin, pod("p", json!({"hostIPC": true}))).is_err());
    assert!(request.warned().is_empty());
}

#[test]
fn updates_count_when_an_image_changes() {
    let plugin = plugin(&[("enforce", "baseline")], &[]);
    let spec = |image: &str| json!({"hostNetwork": true, "containers": [{"name": "c", "image": image}]});
    let old = pod("p", spec("a"));
    let update = |new: Pod| Request::update::<Pod>().updated(&plugin, &old, new);
    let mut labelled = old.clone();
    labelled.metadata.labels.insert("a".to_owned(), "b".to_owned());
    assert!(update(labelled).is_ok());
    assert!(update(pod("p", spec("b"))).is_err());
    let status = Request::update::<Pod>().below("status");
    assert!(status.updated(&plugin, &old, pod("p", spec("b"))).is_ok());
}

#[test]
fn labels_of_namespaces_make_sense() {
    let plugin = plugin(&[], &[]);
    let strange = namespace("ns", &[("enforce", "strict")]);
    let request = || Request {
        namespace: "ns",
        ..Request::update::<Namespace>()
    };
    let refused = request()
        .updated(&plugin, &namespace("ns", &[]), strange.clone())
        .unwrap_err();
    assert_eq!(
        refused,
        "Namespace \"ns\" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: \"strict\": must \
         be one of privileged, baseline, restricted"
    );
    // It was there already.
    assert!(request().updated(&plugin, &strange, strange.clone()).is_ok());
}

#[test]
fn tightening_a_namespace_warns_of_its_pods() {
    let owner = json!([{"apiVersion": "v1", "kind": "X", "name": "x", "uid": "1", "controller": true}]);
    let mut owned = json!({"metadata": {"name": "z", "namespace": "ns"}, "spec": {"hostNetwork": true}});
    owned["metadata"]["ownerReferences"] = owner;
    let pods = [
        pod("b", json!({"hostNetwork": true})),
        pod("a", json!({"hostPID": true})),
        pod("fine", json!({})),
        object(owned),
    ];
    let plugin = plugin(&[], &pods);
    let request = Request::update::<Namespace>();
    let tightened = namespace("ns", &[("enforce", "baseline")]);
    request.updated(&plugin, &namespace("ns", &[]), tightened).unwrap();
    assert_eq!(
        request.warned(),
        [
            "existing pods in namespace \"ns\" violate the new PodSecurity enforce level \"baseline:latest\"",
            "a (and 2 other pods): host namespaces",
        ]
    );
}

#[test]
fn exempt_namespaces_and_users_are_let_through() {
    let value = json!({
        "apiVersion": "pod-security.admission.config.k8s.io/v1",
        "kind": "PodSecurityConfiguration",
        "defaults": {"enforce": "restricted"},
        "exemptions": {"usernames": ["alice"], "namespaces": ["free"]},
    });
    let few = Few::default().with::<Namespace>(json!({"metadata": {"name": "ns"}}));
    let plugin = PodSecurity::new(few.lister(), Some(&value)).unwrap();
    let spec = || json!({"hostNetwork": true});
    assert!(Request::create::<Pod>().created(&plugin, pod("p", spec())).is_ok());
    let mut bob = Request::create::<Pod>();
    bob.user.name = "bob".to_owned();
    assert!(bob.created(&plugin, pod("p", spec())).is_err());
    bob.namespace = "free";
    assert!(bob.created(&plugin, pod("p", spec())).is_ok());
    let request = Request {
        namespace: "free",
        ..Request::create::<Namespace>()
    };
    request
        .created(&plugin, namespace("free", &[("warn", "baseline")]))
        .unwrap();
    assert_eq!(
        request.warned(),
        ["namespace \"free\" is exempt from Pod Security, and the policy (warn=baseline:latest) will be ignored"]
    );
}

#[test]
fn decisions_are_counted_by_mode_level_and_version() {
    let metrics = Metrics::default();
    let labels = [
        ("enforce", "baseline"),
        ("enforce-version", "v1.99"),
        ("audit", "restricted"),
        ("warn", "privileged"),
    ];
    let plugin = plugin(&labels, &[]).counted_by(PodSecurityMetrics::register(&metrics));
    let create = |spec: Value| Request::create::<Pod>().created(&plugin, pod("p", spec));
    create(json!({"containers": [{"name": "c"}]})).unwrap();
    create(json!({"hostNetwork": true})).unwrap_err();
    let text = metrics.text();
    let labels = r#"request_operation="create",resource="pod",subresource="""#;
    for (decision, mode, level, version, count) in [
        ("allow", "enforce", "baseline", "future", 1),
        ("deny", "enforce", "baseline", "future", 1),
        ("deny", "audit", "restricted", "latest", 2),
    ] {
        let line = format!(
            r#"pod_security_evaluations_total{{decision="{decision}",mode="{mode}",policy_level="{level}",policy_version="{version}",{labels}}} {count}"#
        );
        assert!(text.lines().any(|found| found == line), "{line} in {text}");
    }
}
