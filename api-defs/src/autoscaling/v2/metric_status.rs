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
    /// A metric of each of the pods, averaged over them.
    #[field(proto = 3)]
    pub pods: Option<PodsMetricStatus>,
    /// A resource that the pods ask for, over all their containers.
    #[field(proto = 4)]
    pub resource: Option<ResourceMetricStatus>,
    /// A resource that one container of each pod asks for.
    #[field(proto = 7)]
    pub container_resource: Option<ContainerResourceMetricStatus>,
    /// A metric of something outside the cluster.
    #[field(proto = 5)]
    pub external: Option<ExternalMetricStatus>,
}

/// Last observed value of a metric of one object.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ObjectMetricStatus {
    /// Identifies the metric of the object.
    #[field(proto = 1, keep)]
    pub metric: MetricIdentifier,
    /// The value that the metric had last.
    #[field(proto = 2, keep)]
    pub current: MetricValueStatus,
    /// The object in the same namespace that the metric describes.
    #[field(proto = 3, keep)]
    pub described_object: CrossVersionObjectReference,
}

/// Last observed value of a metric of each pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodsMetricStatus {
    /// Identifies the metric of the pods.
    #[field(proto = 1, keep)]
    pub metric: MetricIdentifier,
    /// The average over all pods that the metric had last.
    #[field(proto = 2, keep)]
    pub current: MetricValueStatus,
}

/// Last observed usage of a resource that the pods request.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceMetricStatus {
    /// The resource, such as cpu.
    #[field(proto = 1, keep, go_type = "v1.ResourceName")]
    pub name: String,
    /// Last observed average usage of the pods.
    #[field(proto = 2, keep)]
    pub current: MetricValueStatus,
}

/// Last observed usage of a resource that one container of each pod requests.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerResourceMetricStatus {
    /// The resource, such as cpu.
    #[field(proto = 1, keep, go_type = "v1.ResourceName")]
    pub name: String,
    /// Last observed average usage of the container over all pods.
    #[field(proto = 2, keep)]
    pub current: MetricValueStatus,
    /// Name of the container in the pods of the scaled object.
    #[field(proto = 3, keep)]
    pub container: String,
}

/// Last observed value of a metric outside of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ExternalMetricStatus {
    /// Identifies the metric.
    #[field(proto = 1, keep)]
    pub metric: MetricIdentifier,
    /// The value that the metric had last.
    #[field(proto = 2, keep)]
    pub current: MetricValueStatus,
}

/// The value of a metric.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct MetricValueStatus {
    /// The value as it is, neither divided by the number of pods nor compared with requests.
    #[field(proto = 1)]
    pub value: Option<Quantity>,
    /// The value divided by the number of pods.
    #[field(proto = 2)]
    pub average_value: Option<Quantity>,
    /// The use of a resource in percent of what the pods ask for, averaged over them.
    #[field(proto = 3)]
    pub average_utilization: Option<i32>,
}

impl MetricStatus {
    /// The processor at a percentage of what the pods ask for.
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

    /// The processor's use in percent, when this is that metric.
    pub(crate) fn cpu_percent(&self) -> Option<i32> {
        let source = self
            .resource
            .as_ref()
            .filter(|source| self.type_ == "Resource" && source.name == "cpu")?;
        source.current.average_utilization
    }
}
