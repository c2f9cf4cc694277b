//! Metrics and targets of an autoscaler.

mod check;

use planesmith_machinery::Struct;
use planesmith_machinery::meta::LabelSelector;
use planesmith_machinery::quantity::Quantity;

use super::CrossVersionObjectReference;

/// A metric and its target. Exactly the field that type names is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct MetricSpec {
    /// Source of the metric: ContainerResource, External, Object, Pods or Resource.
    #[field(name = "type", proto = 1, keep, go_type = "MetricSourceType")]
    pub type_: String,
    /// A metric of one object, such as requests to an Ingress.
    #[field(proto = 2)]
    pub object: Option<ObjectMetricSource>,
    /// A metric of each pod, averaged over the pods.
    #[field(proto = 3)]
    pub pods: Option<PodsMetricSource>,
    /// A resource that the pods request, such as cpu, over all their containers.
    #[field(proto = 4)]
    pub resource: Option<ResourceMetricSource>,
    /// A resource that one container of each pod requests.
    #[field(proto = 7)]
    pub container_resource: Option<ContainerResourceMetricSource>,
    /// A metric outside of the cluster, such as the length of a queue.
    #[field(proto = 5)]
    pub external: Option<ExternalMetricSource>,
}

/// A metric of one object.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ObjectMetricSource {
    /// Object that the metric describes, in the same namespace.
    #[field(proto = 1, keep)]
    pub described_object: CrossVersionObjectReference,
    /// Target value of the metric, either absolute or divided by the number of pods.
    #[field(proto = 2, keep)]
    pub target: MetricTarget,
    /// Identifies the metric of the object.
    #[field(proto = 3, keep)]
    pub metric: MetricIdentifier,
}

/// A metric of each pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodsMetricSource {
    /// Identifies the metric of the pods.
    #[field(proto = 1, keep)]
    pub metric: MetricIdentifier,
    /// Target of the average over all pods.
    #[field(proto = 2, keep)]
    pub target: MetricTarget,
}

/// A resource that the pods request.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceMetricSource {
    /// Name of the resource, such as cpu.
    #[field(proto = 1, keep, go_type = "v1.ResourceName")]
    pub name: String,
    /// Target of the average usage of the pods: a percentage of their requests, or an amount.
    #[field(proto = 2, keep)]
    pub target: MetricTarget,
}

/// A resource that one container of each pod requests.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerResourceMetricSource {
    /// Name of the resource, such as cpu.
    #[field(proto = 1, keep, go_type = "v1.ResourceName")]
    pub name: String,
    /// Target of the container's average usage over all pods: a percentage of its requests, or an amount.
    #[field(proto = 2, keep)]
    pub target: MetricTarget,
    /// Name of the observed container, which each pod of the scaled object has.
    #[field(proto = 3, keep)]
    pub container: String,
}

/// A metric outside of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ExternalMetricSource {
    /// Identifies the metric. A selector may narrow it down.
    #[field(proto = 1, keep)]
    pub metric: MetricIdentifier,
    /// Target value of the metric, either absolute or divided by the number of pods.
    #[field(proto = 2, keep)]
    pub target: MetricTarget,
}

/// Identifies a metric.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct MetricIdentifier {
    /// Name of the metric in the metrics API.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Selector that narrows the metric down. Its meaning depends on the metrics provider.
    #[field(proto = 2)]
    pub selector: Option<LabelSelector>,
}

/// Target of a metric.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct MetricTarget {
    /// Kind of the target: Utilization, Value or AverageValue.
    #[field(name = "type", proto = 1, keep, go_type = "MetricTargetType")]
    pub type_: String,
    /// Target value of the metric.
    #[field(proto = 2)]
    pub value: Option<Quantity>,
    /// Target value of the metric divided by the number of pods.
    #[field(proto = 3)]
    pub average_value: Option<Quantity>,
    /// Target of the average resource usage of the pods in percent of their requests.
    #[field(proto = 4)]
    pub average_utilization: Option<i32>,
}

impl MetricSpec {
    /// Returns the default metric: the CPU utilization in percent of the requests.
    pub(crate) fn cpu(percent: i32) -> Self {
        let target = MetricTarget {
            type_: "Utilization".to_owned(),
            average_utilization: Some(percent),
            ..MetricTarget::default()
        };
        Self {
            type_: "Resource".to_owned(),
            resource: Some(ResourceMetricSource {
                name: "cpu".to_owned(),
                target,
            }),
            ..Self::default()
        }
    }

    /// Returns the percentage if this is the CPU metric that older versions have a field for.
    pub(crate) fn cpu_percent(&self) -> Option<i32> {
        let source = self
            .resource
            .as_ref()
            .filter(|source| self.type_ == "Resource" && source.name == "cpu")?;
        source.target.average_utilization
    }
}
