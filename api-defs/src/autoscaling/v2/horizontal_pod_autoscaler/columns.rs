//! Table columns of autoscalers.

use planesmith_machinery::quantity::Quantity;
use planesmith_machinery::table::Cell;

use super::HorizontalPodAutoscaler;
use crate::autoscaling::v2::{MetricSpec, MetricStatus, MetricTarget, MetricValueStatus};

/// Maximum number of metrics that a cell lists. The rest is counted.
const MAX_METRICS: usize = 2;

const UNKNOWN: &str = "<unknown>";

pub(super) fn reference(hpa: &HorizontalPodAutoscaler) -> Cell {
    let target = &hpa.spec.scale_target_ref;
    Cell::Text(format!("{}/{}", target.kind, target.name))
}

pub(super) fn min_pods(hpa: &HorizontalPodAutoscaler) -> Cell {
    Cell::Text(
        hpa.spec
            .min_replicas
            .map_or("<unset>".to_owned(), |min| min.to_string()),
    )
}

pub(super) fn max_pods(hpa: &HorizontalPodAutoscaler) -> Cell {
    Cell::Integer(i64::from(hpa.spec.max_replicas))
}

pub(super) fn replicas(hpa: &HorizontalPodAutoscaler) -> Cell {
    Cell::Integer(i64::from(hpa.status.current_replicas))
}

pub(super) fn targets(hpa: &HorizontalPodAutoscaler) -> Cell {
    let metrics = &hpa.spec.metrics;
    if metrics.is_empty() {
        return Cell::Text("<none>".to_owned());
    }
    let seen = &hpa.status.current_metrics;
    let shown = metrics
        .iter()
        .enumerate()
        .take(MAX_METRICS)
        .map(|(index, metric)| metric_text(metric, seen.get(index)));
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if metrics.len() > MAX_METRICS {
        text.push_str(&format!(" + {} more...", metrics.len() - MAX_METRICS));
    }
    Cell::Text(text)
}

/// Renders the current and the target value as `current/target`; unknown values are marked.
fn metric_text(metric: &MetricSpec, seen: Option<&MetricStatus>) -> String {
    if let Some(source) = &metric.external {
        let current = seen.and_then(|seen| seen.external.as_ref()).map(|seen| &seen.current);
        return of_value(&source.target, current);
    }
    if let Some(source) = &metric.object {
        let current = seen.and_then(|seen| seen.object.as_ref()).map(|seen| &seen.current);
        return of_value(&source.target, current);
    }
    if let Some(source) = &metric.pods {
        let current = seen.and_then(|seen| seen.pods.as_ref()).map(|seen| &seen.current);
        let current = amount(current.and_then(|current| current.average_value.as_ref()));
        return format!("{current}/{}", amount(source.target.average_value.as_ref()));
    }
    if let Some(source) = &metric.resource {
        let current = seen.and_then(|seen| seen.resource.as_ref()).map(|seen| &seen.current);
        return of_resource(&source.name, &source.target, current);
    }
    if let Some(source) = &metric.container_resource {
        let current = seen
            .and_then(|seen| seen.container_resource.as_ref())
            .map(|seen| &seen.current);
        return of_resource(&source.name, &source.target, current);
    }
    "<unknown type>".to_owned()
}

fn of_value(target: &MetricTarget, current: Option<&MetricValueStatus>) -> String {
    match &target.average_value {
        Some(wanted) => {
            let current = amount(current.and_then(|current| current.average_value.as_ref()));
            format!("{current}/{wanted} (avg)")
        }
        None => {
            let current = amount(current.and_then(|current| current.value.as_ref()));
            format!("{current}/{}", amount(target.value.as_ref()))
        }
    }
}

fn of_resource(name: &str, target: &MetricTarget, current: Option<&MetricValueStatus>) -> String {
    match &target.average_value {
        Some(wanted) => {
            let current = amount(current.and_then(|current| current.average_value.as_ref()));
            format!("{name}: {current}/{wanted}")
        }
        None => {
            let percent = |percent: Option<i32>, otherwise: &str| match percent {
                Some(percent) => format!("{percent}%"),
                None => otherwise.to_owned(),
            };
            let current = percent(current.and_then(|current| current.average_utilization), UNKNOWN);
            format!("{name}: {current}/{}", percent(target.average_utilization, "<auto>"))
        }
    }
}

fn amount(value: Option<&Quantity>) -> String {
    value.map_or(UNKNOWN.to_owned(), ToString::to_string)
}
