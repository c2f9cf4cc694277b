//! Columns that kubectl prints for objects.

use planesmith_api_defs::autoscaling::{v1, v2};
use planesmith_api_defs::coordination::v1::Lease;
use planesmith_api_defs::core::v1::{Event, Namespace, Node, Secret};
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::object::{Object, Resource};
use planesmith_machinery::table::{Cell, cells, columns, printed};
use serde_json::{Value, json};

fn read<R: Resource>(object: &Value) -> R {
    let mut read = R::default();
    json::from_value(object, &mut read, Strictness::Strict).expect("an object of the kind");
    read
}

/// Renders the cells of all columns except ages as one line.
fn line(object: &dyn Object) -> String {
    let printed = printed(object.resource());
    let shown = columns(&printed).iter().zip(cells(object));
    let shown = shown.filter(|(column, _)| !matches!(&*column.name, "Age" | "Last Seen" | "First Seen"));
    let text = |cell: Cell| match cell {
        Cell::Null => "null".to_owned(),
        Cell::Text(text) => text,
        Cell::Integer(number) => number.to_string(),
        Cell::Number(number) => number.to_string(),
        Cell::Bool(value) => value.to_string(),
        Cell::Aged { before, after, .. } => format!("{before}AGE{after}"),
    };
    shown.map(|(_, cell)| text(cell)).collect::<Vec<_>>().join(" | ")
}

#[test]
fn nodes_show_health_roles_and_addresses() {
    let empty: Node = read(&json!({"metadata": {"name": "n"}}));
    assert_eq!(
        line(&empty),
        "n | Unknown | <none> |  | <none> | <none> | <unknown> | <unknown> | <unknown>"
    );
    let full: Node = read(&json!({
        "metadata": {"name": "n", "labels": {
            "node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/edge": "", "kubernetes.io/role": "worker",
        }},
        "spec": {"unschedulable": true},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "addresses": [{"type": "Hostname", "address": "h"}, {"type": "InternalIP", "address": "192.0.2.1"}],
            "nodeInfo": {"kubeletVersion": "v1.36.0", "osImage": "Linux", "kernelVersion": "6.1", "architecture": "arm64"},
        },
    }));
    assert_eq!(
        line(&full),
        "n | Ready,SchedulingDisabled | edge,worker | v1.36.0 | 192.0.2.1 | <none> | Linux | 6.1 (arm64) | <unknown>"
    );
}

#[test]
fn autoscalers_show_current_and_wanted_values() {
    let newest: v2::HorizontalPodAutoscaler = read(&json!({
        "metadata": {"name": "h"},
        "spec": {
            "scaleTargetRef": {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"},
            "minReplicas": 2,
            "maxReplicas": 10,
            "metrics": [
                {"type": "Resource", "resource": {
                    "name": "memory", "target": {"type": "AverageValue", "averageValue": "512Mi"},
                }},
                {"type": "External", "external": {
                    "metric": {"name": "queue"}, "target": {"type": "Value", "value": "30"},
                }},
                {"type": "Pods", "pods": {
                    "metric": {"name": "qps"}, "target": {"type": "AverageValue", "averageValue": "1k"},
                }},
            ],
        },
        "status": {
            "currentReplicas": 3,
            "desiredReplicas": 4,
            "currentMetrics": [{"type": "Resource", "resource": {"name": "memory", "current": {"averageValue": "100Mi"}}}],
        },
    }));
    assert_eq!(
        line(&newest),
        "h | Deployment/web | memory: 100Mi/512Mi, <unknown>/30 + 1 more... | 2 | 10 | 3"
    );
    assert_eq!(
        columns(&printed(v1::HorizontalPodAutoscaler::RESOURCE)).len(),
        7,
        "versions without columns have the same"
    );
}

#[test]
fn events_show_what_happened_to_what() {
    let old: Event = read(&json!({
        "metadata": {"name": "e", "namespace": "a"},
        "involvedObject": {"kind": "Pod", "name": "p", "fieldPath": "spec.containers{c}"},
        "reason": "Started", "message": " it started\n", "type": "Normal", "count": 3,
        "source": {"component": "kubelet", "host": "n1"},
        "firstTimestamp": "2024-01-01T00:00:00Z", "lastTimestamp": "2024-01-01T00:05:00Z",
        "eventTime": null, "reportingComponent": "", "reportingInstance": "",
    }));
    assert_eq!(
        line(&old),
        "Normal | Started | pod/p | spec.containers{c} | kubelet, n1 | it started | 3 | e"
    );
    let single: Event = read(&json!({
        "metadata": {"name": "e"}, "involvedObject": {}, "reportingComponent": "ctl", "reportingInstance": "",
    }));
    assert_eq!(line(&single), " |  |  |  | ctl |  | 1 | e");
}

#[test]
fn absent_values_show_as_kubectl_expects_them() {
    assert_eq!(line(&read::<Lease>(&json!({"metadata": {"name": "l"}}))), "l | ");
    assert_eq!(line(&read::<Secret>(&json!({"metadata": {"name": "s"}}))), "s |  | 0");
    assert_eq!(line(&read::<Namespace>(&json!({"metadata": {"name": "n"}}))), "n | ");
}
