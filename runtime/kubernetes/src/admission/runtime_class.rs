//! Sets overhead and scheduling of pods by their runtime class.

use std::collections::BTreeMap;
use std::sync::Arc;

use planesmith_access::admission::{AdmissionFuture, Attributes, Lister, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::core::v1::Pod;
use planesmith_api_defs::node::v1::{RuntimeClass, Scheduling};
use planesmith_machinery::status::{ApiError, ApiResult};

use super::tolerations::merged;

const OTHER_OVERHEAD: &str = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

/// Copies overhead and scheduling from the runtime class to pods.
pub(super) struct RuntimeClasses {
    pub(super) objects: Arc<dyn Lister>,
}

impl RuntimeClasses {
    fn class_of(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<Option<Arc<RuntimeClass>>> {
        let name = objects
            .new_as::<Pod>()
            .and_then(|pod| pod.spec.runtime_class_name.as_deref());
        let Some(name) = name else {
            return Ok(None);
        };
        if name.is_empty() {
            return Err(ApiError::unnamed(500, "resource name may not be empty"));
        }
        match self.objects.fetch::<RuntimeClass>("", name)? {
            None => {
                let why = format!("pod rejected: RuntimeClass {name:?} not found");
                Err(attributes.forbidden(objects.new.as_deref(), why))
            }
            found => Ok(found),
        }
    }

    fn fill(&self, attributes: &Attributes<'_>, objects: &mut Objects<'_>) -> ApiResult<()> {
        let Some(class) = self
            .class_of(attributes, objects)?
            .filter(|_| attributes.subresource.is_empty())
        else {
            return Ok(());
        };
        let Some(pod) = objects.new_as::<Pod>() else {
            return Ok(());
        };
        let mut spec = pod.spec.clone();
        if let Some(overhead) = &class.overhead {
            if !spec.overhead.is_empty() && spec.overhead != overhead.pod_fixed {
                return Err(attributes.forbidden(objects.new.as_deref(), OTHER_OVERHEAD));
            }
            spec.overhead.clone_from(&overhead.pod_fixed);
        }
        if let Some(scheduling) = &class.scheduling {
            if let Some(why) = conflict(scheduling, &spec.node_selector) {
                return Err(attributes.forbidden(objects.new.as_deref(), why));
            }
            spec.node_selector.extend(scheduling.node_selector.clone());
            spec.tolerations = merged(&spec.tolerations, &scheduling.tolerations);
        }
        if let Some(pod) = objects.new_as_mut::<Pod>() {
            pod.spec = spec;
        }
        Ok(())
    }

    fn check(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        let Some(pod) = objects.new_as::<Pod>().filter(|_| attributes.subresource.is_empty()) else {
            return Ok(());
        };
        let class = self.class_of(attributes, objects)?;
        let why = match class.as_ref().and_then(|class| class.overhead.as_ref()) {
            Some(overhead) if overhead.pod_fixed != pod.spec.overhead => OTHER_OVERHEAD,
            None if !pod.spec.overhead.is_empty() => {
                "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
            }
            _ => return Ok(()),
        };
        Err(attributes.forbidden(objects.new.as_deref(), why))
    }
}

/// Returns the first contradiction between the node selectors of a pod and of its runtime class.
fn conflict(scheduling: &Scheduling, own: &BTreeMap<String, String>) -> Option<String> {
    let mut wanted = scheduling.node_selector.iter();
    wanted.find_map(|(key, value)| {
        let own = own.get(key).filter(|own| *own != value)?;
        Some(format!(
            "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; pod.spec.nodeSelector[{key}] = {own}"
        ))
    })
}

impl Plugin for RuntimeClasses {
    fn name(&self) -> &'static str {
        "RuntimeClass"
    }

    fn handles(&self, operation: Operation, _: Phase) -> bool {
        operation == Operation::Create
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.fill(attributes, objects))
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.check(attributes, objects))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::admission::testing::{Few, Request, object};

    #[expect(clippy::needless_pass_by_value, reason = "cases are written in place")]
    fn created(spec: Value) -> Result<Pod, String> {
        let scheduling = json!({"nodeSelector": {"vm": "yes"}, "tolerations": [{"key": "vm", "operator": "Exists"}]});
        let overhead = json!({"podFixed": {"memory": "64Mi"}});
        let class = json!({"metadata": {"name": "vm"}, "handler": "h", "overhead": overhead, "scheduling": scheduling});
        let few = Few::default()
            .with::<RuntimeClass>(class)
            .with::<RuntimeClass>(json!({"metadata": {"name": "plain"}, "handler": "h"}));
        let plugin = RuntimeClasses { objects: few.lister() };
        let pod: Pod = object(json!({"metadata": {"name": "p"}, "spec": spec}));
        Request::create::<Pod>().created(&plugin, pod)
    }

    #[test]
    fn a_pod_takes_over_what_its_class_says() {
        let made = created(json!({"runtimeClassName": "vm", "nodeSelector": {"zone": "z"}})).unwrap();
        assert_eq!(made.spec.overhead["memory"].as_str(), "64Mi");
        assert_eq!(made.spec.node_selector.len(), 2);
        assert_eq!(made.spec.tolerations[0].key, "vm");
        assert!(
            created(json!({"runtimeClassName": "plain"}))
                .unwrap()
                .spec
                .overhead
                .is_empty()
        );
    }

    #[test]
    fn a_pod_that_contradicts_its_class_is_refused() {
        let refused = |spec| created(spec).unwrap_err();
        assert_eq!(
            refused(json!({"runtimeClassName": "vm", "nodeSelector": {"vm": "no"}})),
            "pods \"p\" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = \
             no"
        );
        assert!(refused(json!({"runtimeClassName": "vm", "overhead": {"cpu": "1"}})).ends_with(OTHER_OVERHEAD));
        assert!(refused(json!({"overhead": {"cpu": "1"}})).contains("Overhead set without corresponding RuntimeClass"));
        assert_eq!(
            refused(json!({"runtimeClassName": "none"})),
            "pods \"p\" is forbidden: pod rejected: RuntimeClass \"none\" not found"
        );
        assert_eq!(
            refused(json!({"runtimeClassName": ""})),
            "resource name may not be empty"
        );
    }
}
