//! Adds the tolerations of a namespace to its pods, and refuses those that it does not allow.

use std::sync::Arc;

use anyhow::Result;
use planesmith_access::admission::{AdmissionFuture, Attributes, Lister, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::core::v1::{Namespace, Pod, Toleration};
use planesmith_control_plane::admission::parse_configuration;
use planesmith_machinery::group_version::GroupResource;
use planesmith_machinery::json::decode_value;
use planesmith_machinery::status::{ApiError, ApiResult};
use serde::Deserialize;

use super::pod_amounts::is_best_effort;
use super::tolerations::{covers, merged};

const DEFAULTS: &str = "scheduler.alpha.kubernetes.io/defaultTolerations";
const ALLOWED: &str = "scheduler.alpha.kubernetes.io/tolerationsWhitelist";

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Configuration {
    default: Vec<Written>,
    whitelist: Vec<Written>,
}

/// A toleration in the form of the configuration.
#[derive(Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Written {
    key: String,
    operator: String,
    value: String,
    effect: String,
    toleration_seconds: Option<i64>,
}

impl From<Written> for Toleration {
    fn from(written: Written) -> Self {
        Self {
            key: written.key,
            operator: written.operator,
            value: written.value,
            effect: written.effect,
            toleration_seconds: written.toleration_seconds,
        }
    }
}

/// Adds the tolerations of the namespace to pods.
pub(super) struct PodTolerationRestriction {
    objects: Arc<dyn Lister>,
    defaults: Vec<Toleration>,
    allowed: Vec<Toleration>,
}

impl PodTolerationRestriction {
    /// The plugin with its part of the configuration file.
    pub(super) fn new(objects: Arc<dyn Lister>, configuration: Option<&serde_json::Value>) -> Result<Self> {
        let versions = ["podtolerationrestriction.admission.k8s.io/v1alpha1"];
        let configuration: Configuration = parse_configuration(configuration, "Configuration", &versions)?;
        Ok(Self {
            objects,
            defaults: configuration.default.into_iter().map(Toleration::from).collect(),
            allowed: configuration.whitelist.into_iter().map(Toleration::from).collect(),
        })
    }

    /// Returns the tolerations in an annotation of a namespace; `None` if it has none.
    fn annotated(&self, name: &str, annotation: &str) -> ApiResult<Option<Vec<Toleration>>> {
        let Some(namespace) = self.objects.find::<Namespace>("", name)? else {
            return Err(ApiError::not_found(&GroupResource::new("", "namespaces"), name));
        };
        let Some(text) = namespace.metadata.annotations.get(annotation) else {
            return Ok(None);
        };
        if text.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let written = decode_value(text.as_bytes()).map_err(|error| ApiError::unnamed(500, error.to_string()))?;
        Ok(Some(written))
    }

    fn complete(&self, attributes: &Attributes<'_>, objects: &mut Objects<'_>) -> ApiResult<()> {
        let Some(pod) = objects.new_as::<Pod>().filter(|_| attributes.subresource.is_empty()) else {
            return Ok(());
        };
        let mut further = Vec::new();
        if attributes.operation == Operation::Create {
            let own = self.annotated(attributes.namespace, DEFAULTS)?;
            further = own.unwrap_or_else(|| self.defaults.clone());
        }
        if !is_best_effort(pod) {
            further.push(Toleration {
                key: "node.kubernetes.io/memory-pressure".to_owned(),
                operator: "Exists".to_owned(),
                effect: "NoSchedule".to_owned(),
                ..Toleration::default()
            });
        }
        if !further.is_empty()
            && let Some(pod) = objects.new_as_mut::<Pod>()
        {
            pod.spec.tolerations = merged(&pod.spec.tolerations, &further);
        }
        self.check(attributes, objects)
    }

    fn check(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        let Some(pod) = objects.new_as::<Pod>().filter(|_| attributes.subresource.is_empty()) else {
            return Ok(());
        };
        let (allowed, scope) = match self.annotated(attributes.namespace, ALLOWED)? {
            Some(own) => (own, "namespace"),
            None => (self.allowed.clone(), "cluster"),
        };
        let is_allowed = |one: &Toleration| allowed.iter().any(|other| covers(other, one));
        if allowed.is_empty() || pod.spec.tolerations.iter().all(is_allowed) {
            return Ok(());
        }
        let why = format!(
            "pod tolerations (possibly merged with namespace default tolerations) conflict with its {scope} whitelist"
        );
        Err(ApiError::unnamed(500, why))
    }
}

impl Plugin for PodTolerationRestriction {
    fn name(&self) -> &'static str {
        "PodTolerationRestriction"
    }

    fn handles(&self, operation: Operation, _: Phase) -> bool {
        matches!(operation, Operation::Create | Operation::Update)
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.complete(attributes, objects))
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.check(attributes, objects))
    }
}

#[cfg(test)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "values that are written in place are passed on as they are"
)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::admission::testing::{Few, Request, object};

    fn created(tolerations: serde_json::Value) -> Result<Pod, String> {
        let defaults = json!([{"key": "a", "operator": "Exists"}]).to_string();
        let allowed = json!([{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}]).to_string();
        let annotations = json!({DEFAULTS: defaults, ALLOWED: allowed});
        let few = Few::default().with::<Namespace>(json!({"metadata": {"name": "ns", "annotations": annotations}}));
        let plugin = PodTolerationRestriction::new(few.lister(), None).unwrap();
        let pod = object(json!({"metadata": {"name": "p"}, "spec": {"tolerations": tolerations}}));
        Request::create::<Pod>().created(&plugin, pod)
    }

    #[test]
    fn tolerations_of_the_namespace_are_added_and_bound() {
        assert_eq!(created(json!([])).unwrap().spec.tolerations[0].key, "a");
        assert_eq!(
            created(json!([{"key": "b", "operator": "Exists"}]))
                .unwrap()
                .spec
                .tolerations
                .len(),
            2
        );
        assert_eq!(
            created(json!([{"key": "c", "operator": "Exists"}])).unwrap_err(),
            "pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist"
        );
    }
}
