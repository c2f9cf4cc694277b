use planesmith_machinery::conversion::convert;
use planesmith_machinery::defaulting::set_defaults;
use planesmith_machinery::environment::Environment;
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::object::Object as _;
use serde_json::{Value, json};

use super::HorizontalPodAutoscaler;
use crate::autoscaling::v2;

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

fn sent(annotations: &Value) -> HorizontalPodAutoscaler {
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
    let document = json!({
        "metadata": {"name": "web", "annotations": annotations},
        "spec": {"maxReplicas": 3, "scaleTargetRef": target},
    });
    let mut autoscaler = HorizontalPodAutoscaler::default();
    json::decode(document.to_string().as_bytes(), &mut autoscaler, Strictness::Strict).unwrap();
    set_defaults(&mut autoscaler, Environment::defaults());
    autoscaler
}

fn newest(autoscaler: &HorizontalPodAutoscaler) -> Value {
    let hub = convert(autoscaler, &autoscaler.resource().hub());
    assert!(hub.downcast_ref::<v2::HorizontalPodAutoscaler>().is_some());
    serde_json::from_slice(&json::to_vec(&*hub)).unwrap()
}

#[test]
fn annotations_are_read_in_any_letter_case() {
    let behavior = json!({"scaleDown": {"stabilizationWindowSeconds": 10, "POLICIES": [{"type": "Pods", "value": 4, "periodSeconds": 60}]}});
    let metrics = json!([{"Type": "Pods", "Pods": {"MetricName": "qps", "targetaveragevalue": "10"}}]);
    let autoscaler = sent(&json!({BEHAVIOR: behavior.to_string(), METRICS: metrics.to_string()}));
    let spec = &newest(&autoscaler)["spec"];
    let policy = json!({"type": "Pods", "value": 4, "periodSeconds": 60});
    assert_eq!(
        spec["behavior"]["scaleDown"],
        json!({"stabilizationWindowSeconds": 10, "policies": [policy]})
    );
    let target = json!({"type": "AverageValue", "averageValue": "10"});
    let pods = json!({"metric": {"name": "qps"}, "target": target});
    assert_eq!(spec["metrics"], json!([{"type": "Pods", "pods": pods}]));
}

#[test]
fn annotations_are_written_as_they_were_understood() {
    let unreadable = sent(&json!({BEHAVIOR: "nope", METRICS: "{}", "kept": "text"}));
    let annotations: Vec<_> = unreadable.metadata.annotations.into_iter().collect();
    assert_eq!(annotations, [("kept".to_owned(), "text".to_owned())]);
    assert_eq!(unreadable.spec.target_cpu_utilization_percentage, Some(80));

    let cpu = json!([{"type": "Resource", "resource": {"name": "cpu", "targetAverageUtilization": 50}}]);
    let other_words = sent(&json!({METRICS: cpu.to_string()}));
    assert!(other_words.metadata.annotations.is_empty());
    assert_eq!(other_words.spec.target_cpu_utilization_percentage, Some(50));

    let older = sent(&json!({"autoscaling.alpha.kubernetes.io/scale-up-tolerance": "0.1"}));
    assert!(older.metadata.annotations.is_empty());
}
