use planesmith_access::authorization::{self, AuthorizationOutcome, Decision, Target};
use planesmith_access::user::UserInfo;
use planesmith_api_defs::authentication::v1::TokenRequest;
use planesmith_api_defs::coordination::v1::Lease;
use planesmith_api_defs::core::v1::{Node, PersistentVolumeClaim, Pod, ServiceAccount};
use planesmith_machinery::object::Resource;
use serde_json::{Value, json};

use super::*;
use crate::admission::testing::{Few, Request, object};

/// Permits tokens for one audience.
#[derive(Debug)]
struct Permits(&'static str);

impl Authorizer for Permits {
    fn authorize(&self, attributes: &authorization::Attributes<'_>) -> AuthorizationOutcome {
        match (attributes.verb, attributes.target) {
            ("request-serviceaccounts-token-audience", Target::Resource { resource, .. }) if resource == self.0 => {
                AuthorizationOutcome::ALLOW
            }
            _ => Decision::NoOpinion(String::new()).into(),
        }
    }
}

fn plugin() -> NodeRestriction {
    let audiences =
        json!([{"serviceAccountToken": {"audience": "vault", "path": "t"}}, {"serviceAccountToken": {"path": "u"}}]);
    let pod = |name: &str, node: &str| {
        json!({
            "metadata": {"name": name, "namespace": "ns", "uid": format!("uid-{name}")},
            "spec": {
                "nodeName": node,
                "volumes": [{"name": "t", "projected": {"sources": audiences}}],
                "containers": [{"name": "c", "image": "i"}],
            },
        })
    };
    let stored = Few::default()
        .with::<Pod>(pod("own", "n1"))
        .with::<Pod>(pod("other", "n2"))
        .with::<Node>(json!({"metadata": {"name": "n1", "uid": "1"}}));
    NodeRestriction {
        objects: stored.lister(),
        authorizer: Arc::new(Permits("registry")),
        restricts_audiences: true,
        has_pod_certificates: false,
    }
}

fn by_node(mut request: Request) -> Request {
    request.user = UserInfo {
        name: "system:node:n1".to_owned(),
        groups: vec!["system:nodes".to_owned()],
        ..UserInfo::default()
    };
    request
}

/// The reason for which a creation is refused; empty if it is not.
fn create<R: Resource>(new: Value) -> String {
    let request = by_node(Request::create::<R>());
    reason(request.created(&plugin(), object::<R>(new)).map(drop))
}

fn update<R: Resource>(subresource: &'static str, old: Value, new: Value) -> String {
    let request = by_node(Request::update::<R>().below(subresource));
    let updated = request.updated(&plugin(), &object::<R>(old), object::<R>(new));
    reason(updated.map(drop))
}

fn reason(answer: Result<(), String>) -> String {
    match answer {
        Ok(()) => String::new(),
        Err(message) => message
            .split_once(" is forbidden: ")
            .map_or(message.clone(), |(_, why)| why.to_owned()),
    }
}

fn mirror_pod() -> Value {
    json!({
        "metadata": {
            "name": "m",
            "namespace": "ns",
            "annotations": {"kubernetes.io/config.mirror": "x"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "1", "controller": true}],
        },
        "spec": {
            "nodeName": "n1",
            "containers": [{"name": "c", "image": "i"}],
            "volumes": [{"name": "h", "hostPath": {"path": "/x"}}],
        },
    })
}

#[test]
fn other_users_are_not_restricted() {
    let request = Request::create::<Pod>();
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    assert!(request.created(&plugin(), object::<Pod>(pod)).is_ok());
}

#[test]
fn a_node_creates_only_mirror_pods_of_its_own() {
    assert_eq!(create::<Pod>(mirror_pod()), "");
    let with = |pointer: &str, value: Value| {
        let mut pod = mirror_pod();
        *pod.pointer_mut(pointer).unwrap() = value;
        create::<Pod>(pod)
    };
    let cases = [
        (
            "/metadata/annotations",
            json!({}),
            "pod does not have \"kubernetes.io/config.mirror\" annotation, node \"n1\" can only create mirror pods",
        ),
        (
            "/spec/nodeName",
            json!("n2"),
            "node \"n1\" can only create pods with spec.nodeName set to itself",
        ),
        (
            "/metadata/ownerReferences",
            json!([]),
            "node \"n1\" can only create pods with an owner reference set to itself",
        ),
        (
            "/metadata/ownerReferences/0/controller",
            json!(false),
            "node \"n1\" can only create pods with a controller owner reference set to itself",
        ),
        (
            "/metadata/ownerReferences/0/uid",
            json!("2"),
            "node n1 UID mismatch: expected 2 got 1",
        ),
        (
            "/spec/volumes/0",
            json!({"name": "s", "secret": {"secretName": "s"}}),
            "node \"n1\" can not create pods that reference secrets",
        ),
        (
            "/spec/volumes/0",
            json!({"name": "s", "persistentVolumeClaim": {"claimName": "c"}}),
            "node \"n1\" can not create pods that reference persistentvolumeclaims",
        ),
        (
            "/spec/volumes/0",
            json!({"name": "s", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}),
            "node \"n1\" can not create pods that reference serviceaccounts (via projected volumes)",
        ),
        (
            "/spec/volumes/0",
            json!({"name": "s"}),
            "unknown volume type for volume  \"s\"",
        ),
    ];
    for (pointer, value, expected) in cases {
        assert_eq!(with(pointer, value), expected);
    }
}

#[test]
fn a_node_reports_the_state_of_its_pods() {
    let pod = |node: &str, labels: Value, phase: &str| {
        json!({
            "metadata": {"name": "p", "namespace": "ns", "labels": labels},
            "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i"}]},
            "status": {"phase": phase},
        })
    };
    let old = pod("n1", json!({}), "Pending");
    assert_eq!(
        update::<Pod>("status", old.clone(), pod("n1", json!({}), "Running")),
        ""
    );
    assert_eq!(
        update::<Pod>("status", old.clone(), pod("n1", json!({"a": "b"}), "Running")),
        "node \"n1\" cannot update labels through pod status"
    );
    let elsewhere = pod("n2", json!({}), "Pending");
    assert_eq!(
        update::<Pod>("status", elsewhere.clone(), elsewhere),
        "node \"n1\" can only update pod status for pods with spec.nodeName set to itself"
    );
    assert_eq!(
        update::<Pod>("", old.clone(), old.clone()),
        "unexpected operation \"UPDATE\", node \"n1\" can only create and delete mirror pods"
    );
    assert_eq!(
        update::<Pod>("resize", old.clone(), old),
        "unexpected pod subresource \"resize\", only 'status' and 'eviction' are allowed"
    );
}

#[test]
fn a_node_changes_only_itself_and_not_what_attracts_pods() {
    let node = |name: &str, labels: Value, taints: Value| json!({"metadata": {"name": name, "labels": labels}, "spec": {"taints": taints}});
    let labels =
        json!({"kubernetes.io/hostname": "n1", "node.kubernetes.io/x": "y", "a.node.kubernetes.io/z": "", "own": "1"});
    assert_eq!(create::<Node>(node("n1", labels, json!([]))), "");
    assert_eq!(
        create::<Node>(node("n2", json!({}), json!([]))),
        "node \"n1\" is not allowed to modify node \"n2\""
    );
    assert_eq!(
        create::<Node>(node(
            "n1",
            json!({"node-restriction.kubernetes.io/a": "", "kubernetes.io/b": "", "x.k8s.io/c": ""}),
            json!([])
        )),
        "node \"n1\" is not allowed to set the following labels: kubernetes.io/b, node-restriction.kubernetes.io/a, x.k8s.io/c"
    );
    let old = node("n1", json!({"x.node-restriction.kubernetes.io/a": "1"}), json!([]));
    let taint = json!([{"key": "k", "effect": "NoSchedule"}]);
    let kept = json!({"x.node-restriction.kubernetes.io/a": "1"});
    assert_eq!(
        update::<Node>("", old.clone(), node("n1", kept, taint)),
        "node \"n1\" is not allowed to modify taints"
    );
    assert_eq!(
        update::<Node>("status", old, node("n1", json!({}), json!([]))),
        "is not allowed to modify labels: x.node-restriction.kubernetes.io/a"
    );
}

#[test]
fn a_node_requests_tokens_for_its_pods_and_their_audiences() {
    let token = |pod: &str, uid: &str, audiences: Value| {
        let spec = json!({
            "audiences": audiences,
            "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": uid},
        });
        let mut new = object::<TokenRequest>(json!({"spec": spec}));
        let request = by_node(Request::create::<ServiceAccount>().below("token"));
        reason(request.admit(&plugin(), Some(&mut new), None))
    };
    for audiences in [json!([]), json!(["vault"]), json!(["registry"])] {
        assert_eq!(token("own", "uid-own", audiences), "");
    }
    let unused = "audience \"x\" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience";
    assert_eq!(token("own", "uid-own", json!(["x"])), unused);
    assert_eq!(
        token("own", "uid-own", json!(["vault", "x"])),
        "node may only request 0 or 1 audiences"
    );
    assert_eq!(
        token("other", "uid-other", json!([])),
        "node requested token bound to a pod scheduled on a different node"
    );
    assert!(token("own", "7", json!([])).starts_with("the UID in the bound object reference (7) does not match"));
    assert_eq!(
        token("own", "", json!([])),
        "node requested token with a pod binding without a uid"
    );
    assert_eq!(token("none", "7", json!([])), "pods \"none\" not found");
    assert_eq!(token("", "7", json!([])), "node requested token not bound to a pod");
}

#[test]
fn a_node_resizes_claims_and_renews_its_lease() {
    let claim = |storage: &str, volume: &str| {
        json!({
            "metadata": {"name": "c", "namespace": "ns"},
            "spec": {"volumeName": volume},
            "status": {"capacity": {"storage": storage}},
        })
    };
    let resized = update::<PersistentVolumeClaim>("status", claim("1Gi", "v"), claim("2Gi", "v"));
    assert_eq!(resized, "");
    assert_eq!(
        update::<PersistentVolumeClaim>("status", claim("1Gi", "v"), claim("1Gi", "w")),
        "node \"n1\" is not allowed to update fields other than status.quantity and status.conditions"
    );
    assert_eq!(
        update::<PersistentVolumeClaim>("", claim("1Gi", "v"), claim("1Gi", "v")),
        "may only update PVC status"
    );
    let lease = |namespace: &'static str, name: &str| {
        let mut request = by_node(Request::create::<Lease>());
        request.namespace = namespace;
        let lease = object::<Lease>(json!({"metadata": {"name": name, "namespace": namespace}}));
        reason(request.created(&plugin(), lease).map(drop))
    };
    assert_eq!(lease("kube-node-lease", "n1"), "");
    assert_eq!(
        lease("kube-node-lease", "n2"),
        "can only access node lease with the same name as the requesting node"
    );
    assert_eq!(
        lease("ns", "n1"),
        "can only access leases in the \"kube-node-lease\" system namespace"
    );
}
