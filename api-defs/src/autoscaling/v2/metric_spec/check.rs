//! Validation of metrics.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

use super::{
    ContainerResourceMetricSource, ExternalMetricSource, MetricIdentifier, MetricSpec, MetricTarget,
    ObjectMetricSource, PodsMetricSource, ResourceMetricSource,
};
use crate::autoscaling::v2::horizontal_pod_autoscaler::Versions;
use crate::core::v1::check_container_resource;

/// Legal sources of a metric.
const TYPES: [&str; 5] = ["Object", "Pods", "Resource", "External", "ContainerResource"];

impl MetricSpec {
    /// Reports errors in the metric.
    pub(in crate::autoscaling::v2) fn check(&self, versions: Versions, errors: &mut FieldErrors) {
        let type_ = self.type_.as_str();
        if type_.is_empty() {
            errors.required("type", "must specify a metric source type");
        }
        if !TYPES.contains(&type_) {
            errors.not_supported("type", type_, &TYPES);
        }
        let present = self.sources();
        if let Some(first) = present.first() {
            self.check_source(first, versions, errors);
        }
        let expected = match type_ {
            "Object" => "object",
            "Pods" => "pods",
            "Resource" => "resource",
            "External" => "external",
            "ContainerResource" => "containerResource",
            _ => {
                // As in kube-apiserver, the error is reported twice.
                errors.not_supported("type", type_, &TYPES);
                ""
            }
        };
        if !expected.is_empty() && !present.contains(&expected) {
            errors.required(expected, "must populate information for the given metric source");
        }
        if present.len() != 1 {
            for other in present.iter().filter(|source| **source != expected) {
                errors.forbidden(other, "must populate the given metric source only");
            }
        }
    }

    /// Returns the fields that are set, in the order of validation.
    fn sources(&self) -> Vec<&'static str> {
        let all = [
            ("object", self.object.is_some()),
            ("external", self.external.is_some()),
            ("pods", self.pods.is_some()),
            ("resource", self.resource.is_some()),
            ("containerResource", self.container_resource.is_some()),
        ];
        all.into_iter()
            .filter_map(|(source, present)| present.then_some(source))
            .collect()
    }

    fn check_source(&self, field: &str, versions: Versions, errors: &mut FieldErrors) {
        let errors = &mut errors.at(field);
        if let Some(source) = &self.object {
            source.check(versions, errors);
        } else if let Some(source) = &self.external {
            source.check(errors);
        } else if let Some(source) = &self.pods {
            source.check(errors);
        } else if let Some(source) = &self.resource {
            source.check(errors);
        } else if let Some(source) = &self.container_resource {
            source.check(errors);
        }
    }
}

impl ObjectMetricSource {
    fn check(&self, versions: Versions, errors: &mut FieldErrors) {
        self.described_object.check(versions, &mut errors.at("describedObject"));
        self.metric.check(&mut errors.at("metric"));
        self.target.check(&mut errors.at("target"));
        if self.target.value.is_none() && self.target.average_value.is_none() {
            errors.required("target.averageValue", "must set either a target value or averageValue");
        }
    }
}

impl ExternalMetricSource {
    fn check(&self, errors: &mut FieldErrors) {
        self.metric.check(&mut errors.at("metric"));
        self.target.check(&mut errors.at("target"));
        match (&self.target.value, &self.target.average_value) {
            (None, None) => errors.required(
                "target.averageValue",
                "must set either a target value for metric or a per-pod target",
            ),
            (Some(_), Some(_)) => errors.forbidden(
                "target.value",
                "may not set both a target value for metric and a per-pod target",
            ),
            _ => {}
        }
    }
}

impl PodsMetricSource {
    fn check(&self, errors: &mut FieldErrors) {
        self.metric.check(&mut errors.at("metric"));
        self.target.check(&mut errors.at("target"));
        if self.target.average_value.is_none() {
            errors.required("target.averageValue", "must specify a positive target averageValue");
        }
    }
}

impl ResourceMetricSource {
    fn check(&self, errors: &mut FieldErrors) {
        if self.name.is_empty() {
            errors.required("name", "must specify a resource name");
        }
        self.target.check_of_resource(errors);
    }
}

impl ContainerResourceMetricSource {
    fn check(&self, errors: &mut FieldErrors) {
        match self.name.as_str() {
            "" => errors.required("name", "must specify a resource name"),
            name => check_container_resource(errors, "name", name),
        }
        match self.container.as_str() {
            "" => errors.required("container", "must specify a container"),
            container => {
                for problem in names::dns_label(container) {
                    errors.invalid("container", container, problem);
                }
            }
        }
        self.target.check_of_resource(errors);
    }
}

impl MetricIdentifier {
    fn check(&self, errors: &mut FieldErrors) {
        if self.name.is_empty() {
            errors.required("name", "must specify a metric name");
            return;
        }
        for problem in names::path_segment(&self.name) {
            errors.invalid("name", self.name.as_str(), problem);
        }
    }
}

impl MetricTarget {
    fn check(&self, errors: &mut FieldErrors) {
        let type_ = self.type_.as_str();
        if type_.is_empty() {
            errors.required("type", "must specify a metric target type");
        }
        if !matches!(type_, "Utilization" | "Value" | "AverageValue") {
            errors.invalid("type", type_, "must be either Utilization, Value, or AverageValue");
        }
        for (field, value) in [("value", &self.value), ("averageValue", &self.average_value)] {
            if let Some(value) = value
                && (value.is_negative() || value.is_zero())
            {
                errors.invalid(field, value.to_string().as_str(), "must be positive");
            }
        }
        if let Some(percent @ ..=0) = self.average_utilization {
            errors.invalid("averageUtilization", percent, "must be greater than 0");
        }
    }

    /// Checks the target of a resource metric, which has a percentage or an amount.
    fn check_of_resource(&self, errors: &mut FieldErrors) {
        self.check(&mut errors.at("target"));
        match (self.average_utilization, &self.average_value) {
            (None, None) => errors.required(
                "target.averageUtilization",
                "must set either a target raw value or a target utilization",
            ),
            (Some(_), Some(_)) => errors.forbidden(
                "target.averageValue",
                "may not set both a target raw value and a target utilization",
            ),
            _ => {}
        }
    }
}
