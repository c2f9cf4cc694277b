//! Refuses groups of pods whose workload, or whose template in it, does not exist.

use std::sync::Arc;

use planesmith_access::admission::{AdmissionFuture, Attributes, Lister, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::scheduling::v1alpha2::{PodGroup, Workload};
use planesmith_machinery::go_format::quote;
use planesmith_machinery::status::ApiResult;

/// Checks the workload of new groups of pods.
pub(super) struct PodGroupWorkloadExists {
    pub(super) objects: Arc<dyn Lister>,
}

impl Plugin for PodGroupWorkloadExists {
    fn name(&self) -> &'static str {
        "PodGroupWorkloadExists"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation == Operation::Create && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.check(attributes, objects))
    }
}

impl PodGroupWorkloadExists {
    fn check(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        let Some(group) = objects
            .new_as::<PodGroup>()
            .filter(|_| attributes.subresource.is_empty())
        else {
            return Ok(());
        };
        let template = group.spec.pod_group_template_ref.as_ref();
        let Some(template) = template.and_then(|template| template.workload.as_ref()) else {
            return Ok(());
        };
        let refuse =
            |why: String| Err(attributes.forbidden(objects.new.as_deref(), format!("PodGroup rejected: {why}")));
        let name = quote(&template.workload_name);
        let Some(workload) = self
            .objects
            .find::<Workload>(attributes.namespace, &template.workload_name)?
        else {
            return refuse(format!("Workload {name} not found"));
        };
        if workload.metadata.deletion_timestamp.is_some() {
            return refuse(format!("Workload {name} is being deleted"));
        }
        let wanted = &template.pod_group_template_name;
        let mut templates = workload.spec.pod_group_templates.iter();
        match templates.any(|template| template.name == *wanted) {
            true => Ok(()),
            false => refuse(format!(
                "PodGroupTemplate {} not found in Workload {name}",
                quote(wanted)
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::admission::testing::{Few, Request, object};

    #[test]
    fn the_template_has_to_be_in_an_existing_workload() {
        let workload = json!({"metadata": {"name": "w", "namespace": "ns"},
            "spec": {"podGroupTemplates": [{"name": "t", "schedulingPolicy": {}}]}});
        let objects = Few::default().with::<Workload>(workload).lister();
        let plugin = PodGroupWorkloadExists { objects };
        let create = |workload: &str, template: &str| {
            let mut group: PodGroup = object(json!({"metadata": {"name": "g"}, "spec": {"podGroupTemplateRef": {
                "workload": {"workloadName": workload, "podGroupTemplateName": template}}}}));
            Request::create::<PodGroup>().admit(&plugin, Some(&mut group), None)
        };
        assert_eq!(create("w", "t"), Ok(()));
        let refused = |why: &str| {
            Err(format!(
                r#"podgroups.scheduling.k8s.io "g" is forbidden: PodGroup rejected: {why}"#
            ))
        };
        assert_eq!(create("x", "t"), refused(r#"Workload "x" not found"#));
        assert_eq!(
            create("w", "u"),
            refused(r#"PodGroupTemplate "u" not found in Workload "w""#)
        );
    }
}
