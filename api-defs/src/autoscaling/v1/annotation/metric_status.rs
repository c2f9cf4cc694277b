//! Observed values of metrics, in the format of older versions.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::LabelSelector;
use planesmith_machinery::quantity::Quantity;

use crate::autoscaling::v1::CrossVersionObjectReference;
use crate::autoscaling::v2;

#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub(in crate::autoscaling::v1) struct MetricStatus {
    #[field(name = "type", proto = 1, keep)]
    type_: String,
    #[field(proto = 2)]
    object: Option<ObjectMetricStatus>,
    #[field(proto = 3)]
    pods: Option<PodsMetricStatus>,
    #[field(proto = 4)]
    resource: Option<ResourceMetricStatus>,
    #[field(proto = 7)]
    container_resource: Option<ContainerResourceMetricStatus>,
    #[field(proto = 5)]
    external: Option<ExternalMetricStatus>,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct ObjectMetricStatus {
    #[field(proto = 1, keep)]
    target: CrossVersionObjectReference,
    #[field(proto = 2, keep)]
    metric_name: String,
    #[field(proto = 3, keep)]
    current_value: Quantity,
    #[field(proto = 4)]
    selector: Option<LabelSelector>,
    #[field(proto = 5)]
    average_value: Option<Quantity>,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct PodsMetricStatus {
    #[field(proto = 1, keep)]
    metric_name: String,
    #[field(proto = 2, keep)]
    current_average_value: Quantity,
    #[field(proto = 3)]
    selector: Option<LabelSelector>,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct ResourceMetricStatus {
    #[field(proto = 1, keep)]
    name: String,
    #[field(proto = 2)]
    current_average_utilization: Option<i32>,
    #[field(proto = 3, keep)]
    current_average_value: Quantity,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct ContainerResourceMetricStatus {
    #[field(proto = 1, keep)]
    name: String,
    #[field(proto = 2)]
    current_average_utilization: Option<i32>,
    #[field(proto = 3, keep)]
    current_average_value: Quantity,
    #[field(proto = 4, keep)]
    container: String,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct ExternalMetricStatus {
    #[field(proto = 1, keep)]
    metric_name: String,
    #[field(proto = 2)]
    metric_selector: Option<LabelSelector>,
    #[field(proto = 3, keep)]
    current_value: Quantity,
    #[field(proto = 4)]
    current_average_value: Option<Quantity>,
}

impl From<&v2::MetricStatus> for MetricStatus {
    fn from(newest: &v2::MetricStatus) -> Self {
        Self {
            type_: newest.type_.clone(),
            object: newest.object.as_ref().map(|source| ObjectMetricStatus {
                target: CrossVersionObjectReference::from(&source.described_object),
                metric_name: source.metric.name.clone(),
                current_value: source.current.value.clone().unwrap_or_default(),
                selector: source.metric.selector.clone(),
                average_value: source.current.average_value.clone(),
            }),
            pods: newest.pods.as_ref().map(|source| PodsMetricStatus {
                metric_name: source.metric.name.clone(),
                current_average_value: source.current.average_value.clone().unwrap_or_default(),
                selector: source.metric.selector.clone(),
            }),
            resource: newest.resource.as_ref().map(|source| ResourceMetricStatus {
                name: source.name.clone(),
                current_average_utilization: source.current.average_utilization,
                current_average_value: source.current.average_value.clone().unwrap_or_default(),
            }),
            container_resource: newest
                .container_resource
                .as_ref()
                .map(|source| ContainerResourceMetricStatus {
                    name: source.name.clone(),
                    current_average_utilization: source.current.average_utilization,
                    current_average_value: source.current.average_value.clone().unwrap_or_default(),
                    container: source.container.clone(),
                }),
            external: newest.external.as_ref().map(|source| ExternalMetricStatus {
                metric_name: source.metric.name.clone(),
                metric_selector: source.metric.selector.clone(),
                current_value: source.current.value.clone().unwrap_or_default(),
                current_average_value: source.current.average_value.clone(),
            }),
        }
    }
}

impl From<MetricStatus> for v2::MetricStatus {
    fn from(kept: MetricStatus) -> Self {
        Self {
            type_: kept.type_,
            object: kept.object.map(|source| v2::ObjectMetricStatus {
                metric: v2::MetricIdentifier {
                    name: source.metric_name,
                    selector: source.selector,
                },
                current: value_or_average(source.current_value, source.average_value),
                described_object: (&source.target).into(),
            }),
            pods: kept.pods.map(|source| v2::PodsMetricStatus {
                metric: v2::MetricIdentifier {
                    name: source.metric_name,
                    selector: source.selector,
                },
                current: average(source.current_average_value, None),
            }),
            resource: kept.resource.map(|source| v2::ResourceMetricStatus {
                name: source.name,
                current: average(source.current_average_value, source.current_average_utilization),
            }),
            container_resource: kept.container_resource.map(|source| v2::ContainerResourceMetricStatus {
                name: source.name,
                current: average(source.current_average_value, source.current_average_utilization),
                container: source.container,
            }),
            external: kept.external.map(|source| v2::ExternalMetricStatus {
                metric: v2::MetricIdentifier {
                    name: source.metric_name,
                    selector: source.metric_selector,
                },
                current: value_or_average(source.current_value, source.current_average_value),
            }),
        }
    }
}

fn average(value: Quantity, percent: Option<i32>) -> v2::MetricValueStatus {
    v2::MetricValueStatus {
        average_value: Some(value),
        average_utilization: percent,
        ..Default::default()
    }
}

/// Converts a value of the older format, which is never absent: zero beside an average stands for an absent value.
fn value_or_average(value: Quantity, average: Option<Quantity>) -> v2::MetricValueStatus {
    let absent = average.is_some() && value.is_zero();
    v2::MetricValueStatus {
        value: (!absent).then_some(value),
        average_value: average,
        average_utilization: None,
    }
}
