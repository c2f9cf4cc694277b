//! An unmodified kubectl against the running servers.
//!
//! The sessions in `kubectl/` work with kubectl 1.20, which is part of Debian 12, and with current versions. `every_kind.txt`
//! runs once for each kind in [`KINDS`].

use std::process::Stdio;
use std::time::Duration;

use planesmith_e2e::skip::skip;
use planesmith_e2e::{Binary, Home, Server};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::transcript::{Transcript, at_home, has_kubectl, run};

/// The time limit for kubectl to report a change.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A kind to test with every command.
struct Kind {
    /// The resource argument of commands.
    resource: &'static str,
    /// The prefix that kubectl prints before `/NAME`.
    printed: &'static str,
    /// The plural and group, as in errors.
    plural: &'static str,
    kind: &'static str,
    version: &'static str,
    /// The fields of an object besides `apiVersion`, `kind` and `metadata`.
    fields: &'static str,
    /// A merge patch, and the path of the changed value.
    merge: &'static str,
    field: &'static str,
    value: &'static str,
    /// A JSON patch for the same path, and the resulting value.
    json: &'static str,
    json_value: &'static str,
}

const KINDS: &[(&str, Kind)] = &[
    (
        "namespace",
        Kind {
            resource: "ns",
            printed: "namespace",
            plural: "namespaces",
            kind: "Namespace",
            version: "v1",
            fields: "",
            merge: r#"{"metadata":{"annotations":{"size":"small"}}}"#,
            field: "{.metadata.annotations.size}",
            value: "small",
            json: r#"[{"op":"replace","path":"/metadata/annotations/size","value":"large"}]"#,
            json_value: "large",
        },
    ),
    (
        "configmap",
        Kind {
            resource: "cm",
            printed: "configmap",
            plural: "configmaps",
            kind: "ConfigMap",
            version: "v1",
            fields: "data: {lives: '3'}",
            merge: r#"{"data":{"lives":"4"}}"#,
            field: "{.data.lives}",
            value: "4",
            json: r#"[{"op":"test","path":"/data/lives","value":"4"},{"op":"replace","path":"/data/lives","value":"5"}]"#,
            json_value: "5",
        },
    ),
    (
        "secret",
        Kind {
            resource: "secrets",
            printed: "secret",
            plural: "secrets",
            kind: "Secret",
            version: "v1",
            fields: "stringData: {password: guessed}",
            merge: r#"{"stringData":{"password":"known"}}"#,
            field: "{.data.password}",
            value: "a25vd24=",
            json: r#"[{"op":"replace","path":"/data/password","value":"bmV3"}]"#,
            json_value: "bmV3",
        },
    ),
    (
        "service_account",
        Kind {
            resource: "sa",
            printed: "serviceaccount",
            plural: "serviceaccounts",
            kind: "ServiceAccount",
            version: "v1",
            fields: "automountServiceAccountToken: true",
            merge: r#"{"automountServiceAccountToken":false}"#,
            field: "{.automountServiceAccountToken}",
            value: "false",
            json: r#"[{"op":"replace","path":"/automountServiceAccountToken","value":true}]"#,
            json_value: "true",
        },
    ),
    (
        "node",
        Kind {
            resource: "no",
            printed: "node",
            plural: "nodes",
            kind: "Node",
            version: "v1",
            fields: "spec: {unschedulable: false}",
            merge: r#"{"spec":{"unschedulable":true}}"#,
            field: "{.spec.unschedulable}",
            value: "true",
            json: r#"[{"op":"add","path":"/spec/providerID","value":"rack-1"},{"op":"remove","path":"/spec/unschedulable"}]"#,
            json_value: "",
        },
    ),
    (
        "event",
        Kind {
            resource: "event",
            printed: "event",
            plural: "events",
            kind: "Event",
            version: "v1",
            fields: "involvedObject: {kind: ConfigMap, name: x, namespace: default, apiVersion: v1}\n\
                 reason: Played\nmessage: before\ntype: Normal",
            merge: r#"{"message":"after"}"#,
            field: "{.message}",
            value: "after",
            json: r#"[{"op":"replace","path":"/message","value":"later"}]"#,
            json_value: "later",
        },
    ),
    (
        "lease",
        Kind {
            resource: "leases",
            printed: "lease.coordination.k8s.io",
            plural: "leases.coordination.k8s.io",
            kind: "Lease",
            version: "coordination.k8s.io/v1",
            fields: "spec: {holderIdentity: one, leaseDurationSeconds: 15}",
            merge: r#"{"spec":{"holderIdentity":"two"}}"#,
            field: "{.spec.holderIdentity}",
            value: "two",
            json: r#"[{"op":"replace","path":"/spec/holderIdentity","value":"three"}]"#,
            json_value: "three",
        },
    ),
    (
        "priority_class",
        Kind {
            resource: "pc",
            printed: "priorityclass.scheduling.k8s.io",
            plural: "priorityclasses.scheduling.k8s.io",
            kind: "PriorityClass",
            version: "scheduling.k8s.io/v1",
            fields: "value: 1000\ndescription: before",
            merge: r#"{"description":"after"}"#,
            field: "{.description}",
            value: "after",
            json: r#"[{"op":"replace","path":"/description","value":"later"}]"#,
            json_value: "later",
        },
    ),
    (
        "autoscaler_v1",
        Kind {
            resource: "horizontalpodautoscalers.v1.autoscaling",
            printed: "horizontalpodautoscaler.autoscaling",
            plural: "horizontalpodautoscalers.autoscaling",
            kind: "HorizontalPodAutoscaler",
            version: "autoscaling/v1",
            fields: "spec: {scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1}, \
                 maxReplicas: 10, targetCPUUtilizationPercentage: 70}",
            merge: r#"{"spec":{"maxReplicas":11}}"#,
            field: "{.spec.maxReplicas}",
            value: "11",
            json: r#"[{"op":"replace","path":"/spec/maxReplicas","value":12}]"#,
            json_value: "12",
        },
    ),
    (
        "autoscaler_v2",
        Kind {
            resource: "horizontalpodautoscalers.v2.autoscaling",
            printed: "horizontalpodautoscaler.autoscaling",
            plural: "horizontalpodautoscalers.autoscaling",
            kind: "HorizontalPodAutoscaler",
            version: "autoscaling/v2",
            fields: "spec: {scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1}, maxReplicas: 10, \
                 metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]}",
            merge: r#"{"spec":{"maxReplicas":11}}"#,
            field: "{.spec.maxReplicas}",
            value: "11",
            json: r#"[{"op":"replace","path":"/spec/maxReplicas","value":12}]"#,
            json_value: "12",
        },
    ),
];

impl Kind {
    fn manifest(&self, name: &str) -> String {
        format!(
            "apiVersion: {}\nkind: {}\nmetadata: {{name: {name}}}\n{}\n",
            self.version, self.kind, self.fields
        )
    }
}

/// Returns a server with an empty store, or `None` without kubectl.
async fn server(binary: Binary) -> Option<(Server, Home)> {
    server_with(binary, &[]).await
}

async fn server_with(binary: Binary, flags: &[&str]) -> Option<(Server, Home)> {
    if !has_kubectl() {
        skip("kubectl", "no kubectl is on PATH");
        return None;
    }
    let home = Home::new().unwrap();
    let flags = [&["--storage=memory"], flags].concat();
    let server = home.start(&binary.path().unwrap(), &flags).await.unwrap();
    Some((server, home))
}

async fn play(binary: Binary, name: &'static str, text: &str) {
    if let Some((_server, home)) = server(binary).await {
        Transcript::read(name, text).play(&home, &[]).await;
    }
}

async fn try_every_command(kind: &Kind) {
    let Some((_server, home)) = server(Binary::Planesmith).await else {
        return;
    };
    let manifest = kind.manifest("first");
    let variables = [
        ("RESOURCE", kind.resource),
        ("PRINTED", kind.printed),
        ("PLURAL", kind.plural),
        ("KIND", kind.kind),
        ("MANIFEST", manifest.as_str()),
        ("MERGE", kind.merge),
        ("FIELD", kind.field),
        ("VALUE", kind.value),
        ("JSON", kind.json),
        ("PATCHED", kind.json_value),
    ];
    let text = include_str!("kubectl/every_kind.txt");
    Transcript::read("every_kind.txt", text).play(&home, &variables).await;
}

/// `kubectl get -w` first prints the existing objects, then each change.
async fn watch_with_get(kind: &Kind) {
    let Some((_server, home)) = server(Binary::Planesmith).await else {
        return;
    };
    std::fs::write(home.path().join("object.yaml"), kind.manifest("watched")).unwrap();
    let (output, status) = run(&home, "kubectl create -f object.yaml", &[]).await;
    assert_eq!(status, 0, "{output}");
    let mut watcher = at_home("kubectl", &home);
    let mut watcher = watcher
        .args(["get", kind.resource, "watched", "-w"])
        .args(["-o", "jsonpath={.metadata.labels.step}{\"!\\n\"}"])
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(watcher.stdout.take().unwrap()).lines();
    let mut next_line = async || {
        let line = tokio::time::timeout(TIMEOUT, lines.next_line()).await;
        line.expect("kubectl shows the change in time").unwrap().unwrap()
    };
    assert_eq!(next_line().await, "!");
    for step in ["one", "two"] {
        let script = format!("kubectl label {} watched --overwrite step={step}", kind.resource);
        let (output, status) = run(&home, &script, &[]).await;
        assert_eq!(status, 0, "{output}");
        assert_eq!(next_line().await, format!("{step}!"));
    }
}

/// Runs `check` on all kinds, and then reports those for which it failed.
macro_rules! on_every_kind {
    ($($name:ident),*) => {
        mod every_command {
            $(#[tokio::test]
            async fn $name() {
                super::try_every_command(super::kind(stringify!($name))).await;
            })*
        }
        mod get_and_watch {
            $(#[tokio::test]
            async fn $name() {
                super::watch_with_get(super::kind(stringify!($name))).await;
            })*
        }
    };
}

on_every_kind!(
    namespace,
    configmap,
    secret,
    service_account,
    node,
    event,
    lease,
    priority_class,
    autoscaler_v1,
    autoscaler_v2
);

fn kind(name: &str) -> &'static Kind {
    let found = KINDS.iter().find(|(of, _)| *of == name);
    &found.expect("every test names a kind of the table").1
}

#[tokio::test]
async fn the_server_describes_itself() {
    play(Binary::Planesmith, "server.txt", include_str!("kubectl/server.txt")).await;
}

#[tokio::test]
async fn garbage_is_collected_and_namespaces_say_what_holds_them() {
    play(
        Binary::Planesmith,
        "collector.txt",
        include_str!("kubectl/collector.txt"),
    )
    .await;
}

#[tokio::test]
async fn config_is_made_shown_and_refused() {
    play(Binary::Planesmith, "config.txt", include_str!("kubectl/config.txt")).await;
}

#[tokio::test]
async fn cluster_objects_show_their_columns() {
    play(Binary::Planesmith, "cluster.txt", include_str!("kubectl/cluster.txt")).await;
}

#[tokio::test]
async fn workloads_are_made_changed_and_described() {
    play(
        Binary::Planesmith,
        "workloads.txt",
        include_str!("kubectl/workloads.txt"),
    )
    .await;
}

#[tokio::test]
async fn networks_volumes_roles_and_certificates_work() {
    let session = include_str!("kubectl/network_and_access.txt");
    play(Binary::Planesmith, "network_and_access.txt", session).await;
}

#[tokio::test]
async fn a_kind_of_ones_own_is_defined_used_and_taken_away() {
    let session = include_str!("kubectl/definitions.txt");
    play(Binary::Planesmith, "definitions.txt", session).await;
}

#[tokio::test]
async fn an_autoscaler_is_one_object_in_two_versions() {
    play(
        Binary::Planesmith,
        "autoscaler.txt",
        include_str!("kubectl/autoscaler.txt"),
    )
    .await;
}

#[tokio::test]
async fn service_accounts_get_tokens_and_everybody_learns_who_they_are() {
    play(Binary::Planesmith, "identity.txt", include_str!("kubectl/identity.txt")).await;
}

#[tokio::test]
async fn a_cluster_looks_after_itself() {
    // The transcript is about the lives of objects and credentials: its users need no roles.
    let flags = ["--authorization-mode=AlwaysAllow"];
    let Some((_server, home)) = server_with(Binary::Planesmith, &flags).await else {
        return;
    };
    let binary = Binary::Planesmith.path().unwrap();
    let variables = [
        ("SERVER", binary.to_str().unwrap()),
        ("DATA", home.data().to_str().unwrap()),
    ];
    let text = include_str!("kubectl/lifecycle.txt");
    Transcript::read("lifecycle.txt", text).play(&home, &variables).await;
}

#[tokio::test]
async fn an_own_group_is_served_in_both_versions() {
    play(Binary::Shop, "shop.txt", include_str!("kubectl/shop.txt")).await;
}
