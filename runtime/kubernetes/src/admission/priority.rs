//! Sets the priority of pods by their class, and allows one default class at most.

use std::sync::Arc;

use planesmith_access::admission::{AdmissionFuture, Attributes, Lister, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::core::v1::Pod;
use planesmith_api_defs::scheduling::v1::PriorityClass;
use planesmith_machinery::status::ApiResult;

/// The preemption policy of pods without a class when there is no default class.
const PREEMPT: &str = "PreemptLowerPriority";

/// Sets the priority of pods.
pub(super) struct Priority {
    pub(super) objects: Arc<dyn Lister>,
}

impl Priority {
    /// Returns the default class. Several defaults can only result from a race; the one with the lowest value counts.
    fn default_class(&self) -> ApiResult<Option<Arc<PriorityClass>>> {
        let classes = self.objects.all::<PriorityClass>("")?.into_iter();
        let defaults = classes.filter(|class| class.global_default);
        Ok(defaults.min_by_key(|class| class.value))
    }

    fn fill(&self, attributes: &Attributes<'_>, objects: &mut Objects<'_>) -> ApiResult<()> {
        if !attributes.subresource.is_empty() {
            return Ok(());
        }
        if let Some(old) = objects.old.and_then(|old| old.downcast_ref::<Pod>()) {
            if let Some(pod) = objects.new_as_mut::<Pod>() {
                keep(pod, old);
            }
            return Ok(());
        }
        let Some(pod) = objects.new_as::<Pod>() else {
            return Ok(());
        };
        let name = pod.spec.priority_class_name.clone();
        let refuse = |why: String| Err(attributes.forbidden(objects.new.as_deref(), why));
        let class = if name.is_empty() {
            self.default_class()?
        } else {
            match self.objects.find::<PriorityClass>("", &name)? {
                None => return refuse(format!("no PriorityClass with name {name} was found")),
                found => found,
            }
        };
        let (name, value, policy) = match &class {
            Some(class) => (
                class.metadata.name.clone(),
                class.value,
                class.preemption_policy.clone(),
            ),
            None => (String::new(), 0, Some(PREEMPT.to_owned())),
        };
        if let Some(own) = pod.spec.priority.filter(|own| *own != value) {
            return refuse(format!(
                "the integer value of priority ({own}) must not be provided in pod spec; priority admission controller \
                 computed {value} from the given PriorityClass name"
            ));
        }
        if let (Some(own), Some(policy)) = (&pod.spec.preemption_policy, &policy)
            && own != policy
        {
            return refuse(format!(
                "the string value of PreemptionPolicy ({own}) must not be provided in pod spec; priority admission \
                 controller computed {policy} from the given PriorityClass name"
            ));
        }
        if let Some(pod) = objects.new_as_mut::<Pod>() {
            pod.spec.priority_class_name = name;
            pod.spec.priority = Some(value);
            if policy.is_some() {
                pod.spec.preemption_policy = policy;
            }
        }
        Ok(())
    }

    fn check_class(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        let Some(class) = objects.new_as::<PriorityClass>().filter(|class| class.global_default) else {
            return Ok(());
        };
        match self.default_class()? {
            Some(other) if objects.old.is_none() || other.metadata.name != class.metadata.name => {
                let name = &other.metadata.name;
                let why = format!("PriorityClass {name} is already marked as default. Only one default can exist");
                Err(attributes.forbidden(objects.new.as_deref(), why))
            }
            _ => Ok(()),
        }
    }
}

/// Restores what admission has filled in, so that an update that leaves it out changes nothing.
fn keep(pod: &mut Pod, old: &Pod) {
    if pod.spec.priority.is_none() {
        pod.spec.priority = old.spec.priority;
    }
    if pod.spec.preemption_policy.is_none() {
        pod.spec.preemption_policy.clone_from(&old.spec.preemption_policy);
    }
}

impl Plugin for Priority {
    fn name(&self) -> &'static str {
        "Priority"
    }

    fn handles(&self, operation: Operation, _: Phase) -> bool {
        matches!(operation, Operation::Create | Operation::Update)
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.fill(attributes, objects))
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.check_class(attributes, objects))
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

    fn plugin(default: bool) -> Priority {
        let high = json!({"metadata": {"name": "high"}, "value": 500, "preemptionPolicy": "Never"});
        let usual = json!({"metadata": {"name": "usual"}, "value": 7, "globalDefault": default});
        let few = Few::default().with::<PriorityClass>(high).with::<PriorityClass>(usual);
        Priority { objects: few.lister() }
    }

    fn pod(spec: serde_json::Value) -> Pod {
        object(json!({"metadata": {"name": "p"}, "spec": spec}))
    }

    #[test]
    fn a_pod_has_the_priority_of_its_class() {
        let request = Request::create::<Pod>();
        let made = request
            .created(&plugin(false), pod(json!({"priorityClassName": "high"})))
            .unwrap();
        assert_eq!(made.spec.priority, Some(500));
        assert_eq!(made.spec.preemption_policy.as_deref(), Some("Never"));
        let made = request.created(&plugin(false), pod(json!({}))).unwrap();
        assert_eq!(
            (made.spec.priority, made.spec.priority_class_name.as_str()),
            (Some(0), "")
        );
        assert_eq!(made.spec.preemption_policy.as_deref(), Some(PREEMPT));
        let made = request.created(&plugin(true), pod(json!({}))).unwrap();
        assert_eq!(
            (made.spec.priority, made.spec.priority_class_name.as_str()),
            (Some(7), "usual")
        );
    }

    #[test]
    fn other_values_and_missing_classes_are_refused() {
        let refused = |spec| Request::create::<Pod>().created(&plugin(false), pod(spec)).unwrap_err();
        assert_eq!(
            refused(json!({"priorityClassName": "none"})),
            "pods \"p\" is forbidden: no PriorityClass with name none was found"
        );
        assert!(refused(json!({"priorityClassName": "high", "priority": 4})).contains("(4) must not be provided"));
        let policy = refused(json!({"priorityClassName": "high", "preemptionPolicy": PREEMPT}));
        assert!(policy.contains("PreemptionPolicy (PreemptLowerPriority)"), "{policy}");
    }

    #[test]
    fn updates_keep_what_was_filled_in() {
        let old = pod(json!({"priority": 7, "preemptionPolicy": "Never"}));
        let kept = Request::update::<Pod>()
            .updated(&plugin(true), &old, pod(json!({})))
            .unwrap();
        assert_eq!(kept, old);
    }

    #[test]
    fn there_is_one_default_class() {
        let class =
            |name: &str| -> PriorityClass { object(json!({"metadata": {"name": name}, "globalDefault": true})) };
        let second = Request::create::<PriorityClass>().created(&plugin(true), class("second"));
        assert_eq!(
            second.unwrap_err(),
            "priorityclasses.scheduling.k8s.io \"second\" is forbidden: PriorityClass usual is already marked as default. \
             Only one default can exist"
        );
        let update = Request::update::<PriorityClass>();
        assert!(update.updated(&plugin(true), &class("usual"), class("usual")).is_ok());
        assert!(update.updated(&plugin(true), &class("high"), class("high")).is_err());
    }
}
