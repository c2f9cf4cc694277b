//! Metrics and targets of an autoscaler.

mod check;

use planesmith_machinery::Struct;
use planesmith_machinery::meta::LabelSelector;
use planesmith_machinery::quantity::Quantity;

use super::CrossVersionObjectReference;

/// One metric and the target at which it is kept. Exactly the field that type names is given.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct MetricSpec {
    /// Source of the metric: ContainerResource, External, Object, Pods or Resource.
    #[field(name = "type", proto = 1, keep, go_type = "MetricSourceType")]
    pub type_: String,
    /// A metric of one object, such as requests to an Ingress.
    #[field(proto = 2)]
    pub object: Option<ObjectMetricSource>,
    /// A metric of each of the pods, averaged over them.
    #[field(proto = 3)]
    pub pods: Option<PodsMetricSource>,
    /// A resource that the pods ask for, such as cpu, over all their containers.
    #[field(proto = 4)]
    pub resource: Option<ResourceMetricSource>,
    /// A resource that one container of each pod asks for.
    #[field(proto = 7)]
    pub container_resource: Option<ContainerResourceMetricSource>,
    /// A metric of something outside the cluster, such as the length of a queue.
    #[field(proto = 5)]
    pub external: Option<ExternalMetricSource>,
}

/// A metric of one object.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ObjectMetricSource {
    /// The object in the same namespace that the metric describes.
    #[field(proto = 1, keep)]
    pub described_object: CrossVersionObjectReference,
    /// The value to keep the metric at, as such or divided by the number of pods.
    #[field(proto = 2, keep)]
    pub target: MetricTarget,
    /// Identifies the metric of the object.
    #[field(proto = 3, keep)]
    pub metric: MetricIdentifier,
}

/// A metric of each of the pods.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodsMetricSource {
    /// Identifies the metric of the pods.
    #[field(proto = 1, keep)]
    pub metric: MetricIdentifier,
    /// The average over all pods to keep the metric at.
    #[field(proto = 2, keep)]
    pub target: MetricTarget,
}

/// A resource that the pods ask for.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceMetricSource {
    /// The resource, such as cpu.
    #[field(proto = 1, keep, go_type = "v1.ResourceName")]
    pub name: String,
    /// Target of the average usage of the pods: a percentage of their requests, or an amount.
    #[field(proto = 2, keep)]
    pub target: MetricTarget,
}

/// A resource that one container of each pod asks for.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerResourceMetricSource {
    /// The resource, such as cpu.
    #[field(proto = 1, keep, go_type = "v1.ResourceName")]
    pub name: String,
    /// Target of the container's average usage over all pods: a percentage of its requests, or an amount.
    #[field(proto = 2, keep)]
    pub target: MetricTarget,
    /// Name of the container in the pods of the scaled object that is looked at.
    #[field(proto = 3, keep)]
    pub container: String,
}

/// A metric of something outside the cluster.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ExternalMetricSource {
    /// Identifies the metric. A selector may narrow it down.
    #[field(proto = 1, keep)]
    pub metric: MetricIdentifier,
    /// The value to keep the metric at, as such or divided by the number of pods.
    #[field(proto = 2, keep)]
    pub target: MetricTarget,
}

/// A metric by its name.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct MetricIdentifier {
    /// Name of the metric as the metrics API knows it.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Narrows the metric down, in the words of the system that provides it.
    #[field(proto = 2)]
    pub selector: Option<LabelSelector>,
}

/// A value to keep.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct MetricTarget {
    /// Kind of the target: Utilization, Value or AverageValue.
    #[field(name = "type", proto = 1, keep, go_type = "MetricTargetType")]
    pub type_: String,
    /// The value of the metric.
    #[field(proto = 2)]
    pub value: Option<Quantity>,
    /// The value of the metric divided by the number of pods.
    #[field(proto = 3)]
    pub average_value: Option<Quantity>,
    /// The use of a resource in percent of what the pods ask for, averaged over them.
    #[field(proto = 4)]
    pub average_utilization: Option<i32>,
}

impl MetricSpec {
    /// The metric that is meant when none is given: the processor, at a percentage of what the pods ask for.
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

    /// The percentage when this is the metric that older versions have a field for.
    pub(crate) fn cpu_percent(&self) -> Option<i32> {
        let source = self
            .resource
            .as_ref()
            .filter(|source| self.type_ == "Resource" && source.name == "cpu")?;
        source.target.average_utilization
    }
}
