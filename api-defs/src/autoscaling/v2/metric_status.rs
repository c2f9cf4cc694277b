//! Last observed values of an autoscaler's metrics.

use planesmith_machinery::Struct;
use planesmith_machinery::quantity::Quantity;

use super::{CrossVersionObjectReference, MetricIdentifier};

/// Last observed value of one metric. Exactly the field that type names is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct MetricStatus {
    /// Source of the metric: ContainerResource, External, Object, Pods or Resource.
    #[field(name = "type", proto = 1, keep, go_type = "MetricSourceType")]
    pub type_: String,
    /// A metric of one object.
    #[field(proto = 2)]
    pub object: Option<ObjectMetricStatus>,
    /// A metric of each pod, averaged over the pods.
    #[field(proto = 3)]
    pub pods: Option<PodsMetricStatus>,
    /// A resource that the pods request, over all their containers.
    #[field(proto = 4)]
    pub resource: Option<ResourceMetricStatus>,
    /// A resource that one container of each pod requests.
    #[field(proto = 7)]
    pub container_resource: Option<ContainerResourceMetricStatus>,
    /// A metric outside of the cluster.
    #[field(proto = 5)]
    pub external: Option<ExternalMetricStatus>,
}

/// Last observed value of a metric of one object.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ObjectMetricStatus {
    /// Identifies the metric of the object.
    #[field(proto = 1, keep)]
    pub metric: MetricIdentifier,
    /// Last observed value of the metric.
    #[field(proto = 2, keep)]
    pub current: MetricValueStatus,
    /// Object that the metric describes, in the same namespace.
    #[field(proto = 3, keep)]
    pub described_object: CrossVersionObjectReference,
}

/// Last observed value of a metric of each pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodsMetricStatus {
    /// Identifies the metric of the pods.
    #[field(proto = 1, keep)]
    pub metric: MetricIdentifier,
    /// Last observed average over all pods.
    #[field(proto = 2, keep)]
    pub current: MetricValueStatus,
}

/// Last observed usage of a resource that the pods request.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceMetricStatus {
    /// Name of the resource, such as cpu.
    #[field(proto = 1, keep, go_type = "v1.ResourceName")]
    pub name: String,
    /// Last observed average usage of the pods.
    #[field(proto = 2, keep)]
    pub current: MetricValueStatus,
}

/// Last observed usage of a resource that one container of each pod requests.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerResourceMetricStatus {
    /// Name of the resource, such as cpu.
    #[field(proto = 1, keep, go_type = "v1.ResourceName")]
    pub name: String,
    /// Last observed average usage of the container over all pods.
    #[field(proto = 2, keep)]
    pub current: MetricValueStatus,
    /// Name of the observed container, which each pod of the scaled object has.
    #[field(proto = 3, keep)]
    pub container: String,
}

/// Last observed value of a metric outside of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ExternalMetricStatus {
    /// Identifies the metric.
    #[field(proto = 1, keep)]
    pub metric: MetricIdentifier,
    /// Last observed value of the metric.
    #[field(proto = 2, keep)]
    pub current: MetricValueStatus,
}

/// Value of a metric.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct MetricValueStatus {
    /// Absolute value, neither divided by the number of pods nor relative to requests.
    #[field(proto = 1)]
    pub value: Option<Quantity>,
    /// Value divided by the number of pods.
    #[field(proto = 2)]
    pub average_value: Option<Quantity>,
    /// Target of the average resource usage of the pods in percent of their requests.
    #[field(proto = 3)]
    pub average_utilization: Option<i32>,
}

impl MetricStatus {
    /// Returns the status of the CPU metric at a percentage of the requests.
    pub(crate) fn cpu(percent: i32) -> Self {
        let current = MetricValueStatus {
            average_utilization: Some(percent),
            ..MetricValueStatus::default()
        };
        Self {
            type_: "Resource".to_owned(),
            resource: Some(ResourceMetricStatus {
                name: "cpu".to_owned(),
                current,
            }),
            ..Self::default()
        }
    }

    /// Returns the CPU utilization in percent if this is the CPU metric.
    pub(crate) fn cpu_percent(&self) -> Option<i32> {
        let source = self
            .resource
            .as_ref()
            .filter(|source| self.type_ == "Resource" && source.name == "cpu")?;
        source.current.average_utilization
    }
}
