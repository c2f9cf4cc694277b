//! Metrics and targets in the older format, which has a field for each type of target.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::LabelSelector;
use planesmith_machinery::quantity::Quantity;

use crate::autoscaling::v1::CrossVersionObjectReference;
use crate::autoscaling::v2;

#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub(in crate::autoscaling::v1) struct MetricSpec {
    #[field(name = "type", proto = 1, keep)]
    type_: String,
    #[field(proto = 2)]
    object: Option<ObjectMetricSource>,
    #[field(proto = 3)]
    pods: Option<PodsMetricSource>,
    #[field(proto = 4)]
    resource: Option<ResourceMetricSource>,
    #[field(proto = 7)]
    container_resource: Option<ContainerResourceMetricSource>,
    #[field(proto = 5)]
    external: Option<ExternalMetricSource>,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct ObjectMetricSource {
    #[field(proto = 1, keep)]
    target: CrossVersionObjectReference,
    #[field(proto = 2, keep)]
    metric_name: String,
    #[field(proto = 3, keep)]
    target_value: Quantity,
    #[field(proto = 4)]
    selector: Option<LabelSelector>,
    #[field(proto = 5)]
    average_value: Option<Quantity>,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct PodsMetricSource {
    #[field(proto = 1, keep)]
    metric_name: String,
    #[field(proto = 2, keep)]
    target_average_value: Quantity,
    #[field(proto = 3)]
    selector: Option<LabelSelector>,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct ResourceMetricSource {
    #[field(proto = 1, keep)]
    name: String,
    #[field(proto = 2)]
    target_average_utilization: Option<i32>,
    #[field(proto = 3)]
    target_average_value: Option<Quantity>,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct ContainerResourceMetricSource {
    #[field(proto = 1, keep)]
    name: String,
    #[field(proto = 2)]
    target_average_utilization: Option<i32>,
    #[field(proto = 3)]
    target_average_value: Option<Quantity>,
    #[field(proto = 5, keep)]
    container: String,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct ExternalMetricSource {
    #[field(proto = 1, keep)]
    metric_name: String,
    #[field(proto = 2)]
    metric_selector: Option<LabelSelector>,
    #[field(proto = 3)]
    target_value: Option<Quantity>,
    #[field(proto = 4)]
    target_average_value: Option<Quantity>,
}

impl From<&v2::MetricSpec> for MetricSpec {
    fn from(newest: &v2::MetricSpec) -> Self {
        Self {
            type_: newest.type_.clone(),
            object: newest.object.as_ref().map(|source| ObjectMetricSource {
                target: CrossVersionObjectReference::from(&source.described_object),
                metric_name: source.metric.name.clone(),
                target_value: source.target.value.clone().unwrap_or_default(),
                selector: source.metric.selector.clone(),
                average_value: source.target.average_value.clone(),
            }),
            pods: newest.pods.as_ref().map(|source| PodsMetricSource {
                metric_name: source.metric.name.clone(),
                target_average_value: source.target.average_value.clone().unwrap_or_default(),
                selector: source.metric.selector.clone(),
            }),
            resource: newest.resource.as_ref().map(|source| ResourceMetricSource {
                name: source.name.clone(),
                target_average_utilization: source.target.average_utilization,
                target_average_value: source.target.average_value.clone(),
            }),
            container_resource: newest
                .container_resource
                .as_ref()
                .map(|source| ContainerResourceMetricSource {
                    name: source.name.clone(),
                    target_average_utilization: source.target.average_utilization,
                    target_average_value: source.target.average_value.clone(),
                    container: source.container.clone(),
                }),
            external: newest.external.as_ref().map(|source| ExternalMetricSource {
                metric_name: source.metric.name.clone(),
                metric_selector: source.metric.selector.clone(),
                target_value: source.target.value.clone(),
                target_average_value: source.target.average_value.clone(),
            }),
        }
    }
}

impl From<MetricSpec> for v2::MetricSpec {
    fn from(kept: MetricSpec) -> Self {
        Self {
            type_: kept.type_,
            object: kept.object.map(|source| {
                // Targets are positive: zero beside an average stands for an absent value.
                let absent = source.average_value.is_some() && source.target_value.is_zero();
                v2::ObjectMetricSource {
                    described_object: (&source.target).into(),
                    target: target((!absent).then_some(source.target_value), source.average_value, None),
                    metric: v2::MetricIdentifier {
                        name: source.metric_name,
                        selector: source.selector,
                    },
                }
            }),
            pods: kept.pods.map(|source| v2::PodsMetricSource {
                metric: v2::MetricIdentifier {
                    name: source.metric_name,
                    selector: source.selector,
                },
                target: target(None, Some(source.target_average_value), None),
            }),
            resource: kept.resource.map(|source| v2::ResourceMetricSource {
                name: source.name,
                target: target(None, source.target_average_value, source.target_average_utilization),
            }),
            container_resource: kept.container_resource.map(|source| v2::ContainerResourceMetricSource {
                name: source.name,
                target: target(None, source.target_average_value, source.target_average_utilization),
                container: source.container,
            }),
            external: kept.external.map(|source| v2::ExternalMetricSource {
                metric: v2::MetricIdentifier {
                    name: source.metric_name,
                    selector: source.metric_selector,
                },
                target: target(source.target_value, source.target_average_value, None),
            }),
        }
    }
}

/// Returns a target of the type that its values imply.
fn target(value: Option<Quantity>, average_value: Option<Quantity>, percent: Option<i32>) -> v2::MetricTarget {
    let type_ = match (percent, &average_value) {
        (Some(_), _) => "Utilization",
        (None, Some(_)) => "AverageValue",
        (None, None) if value.is_none() => "AverageValue",
        (None, None) => "Value",
    };
    v2::MetricTarget {
        type_: type_.to_owned(),
        value,
        average_value,
        average_utilization: percent,
    }
}
