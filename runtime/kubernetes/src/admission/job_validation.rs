//! Refuses changes of a job's parallelism while its pods are scheduled as a gang.

use std::sync::Arc;

use planesmith_access::admission::{AdmissionFuture, Attributes, Lister, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::batch::v1::Job;
use planesmith_api_defs::scheduling::v1alpha2::PodGroup;
use planesmith_machinery::go_format::quote;
use planesmith_machinery::status::ApiResult;

/// Checks updates of jobs.
pub(super) struct JobValidation {
    pub(super) objects: Arc<dyn Lister>,
}

impl Plugin for JobValidation {
    fn name(&self) -> &'static str {
        "JobValidation"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation == Operation::Update && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.check(attributes, objects))
    }
}

impl JobValidation {
    fn check(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        let (Some(new), Some(old)) = (objects.new_as::<Job>(), objects.old_as::<Job>()) else {
            return Ok(());
        };
        if !attributes.subresource.is_empty() || new.spec.parallelism == old.spec.parallelism {
            return Ok(());
        }
        let Some(gang) = self.gang_of(old)? else { return Ok(()) };
        let gang = quote(&gang.metadata.name);
        let why = format!("cannot change parallelism for a Job referencing gang-scheduled PodGroup {gang}");
        Err(attributes.forbidden(objects.new.as_deref(), why))
    }

    /// Returns the group by which the pods of a job are scheduled as a gang: the one that its template names, or else one that the
    /// job controls.
    fn gang_of(&self, job: &Job) -> ApiResult<Option<Arc<PodGroup>>> {
        let is_gang = |group: &Arc<PodGroup>| group.spec.scheduling_policy.gang.is_some();
        let namespace = &job.metadata.namespace;
        let group = job.spec.template.spec.scheduling_group.as_ref();
        if let Some(name) = group.and_then(|group| group.pod_group_name.as_ref()) {
            return Ok(self.objects.find::<PodGroup>(namespace, name)?.filter(is_gang));
        }
        let groups = self.objects.all::<PodGroup>(namespace)?;
        let is_own = |group: &Arc<PodGroup>| {
            let mut owners = group.metadata.owner_references.iter();
            owners.any(|owner| owner.controller == Some(true) && owner.uid == job.metadata.uid)
        };
        Ok(groups.into_iter().find(|group| is_own(group) && is_gang(group)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::admission::testing::{Few, Request, object};

    fn job(parallelism: i32, group: &Value) -> Job {
        object(
            json!({"metadata": {"name": "j", "namespace": "ns", "uid": "u"}, "spec": {"parallelism": parallelism,
            "template": {"spec": {"containers": [], "schedulingGroup": group}}}}),
        )
    }

    #[test]
    fn the_parallelism_of_a_gang_stays() {
        let gang = json!({"metadata": {"name": "gang", "namespace": "ns", "ownerReferences": [{"apiVersion": "batch/v1",
            "kind": "Job", "name": "j", "uid": "u", "controller": true}]},
            "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}}});
        let loose =
            json!({"metadata": {"name": "loose", "namespace": "ns"}, "spec": {"schedulingPolicy": {"basic": {}}}});
        let objects = Few::default().with::<PodGroup>(gang).with::<PodGroup>(loose).lister();
        let plugin = JobValidation { objects };
        let update = |old: i32, new: i32, group: &Value| {
            Request::update::<Job>().admit(&plugin, Some(&mut job(new, group)), Some(&job(old, group)))
        };
        let refused = r#"jobs.batch "j" is forbidden: cannot change parallelism for a Job referencing gang-scheduled PodGroup "gang""#;
        assert_eq!(update(1, 2, &Value::Null), Err(refused.to_owned()));
        assert_eq!(update(1, 2, &json!({"podGroupName": "gang"})), Err(refused.to_owned()));
        assert_eq!(update(1, 2, &json!({"podGroupName": "loose"})), Ok(()));
        assert_eq!(update(2, 2, &Value::Null), Ok(()));
    }
}
