//! Sets the pull policy of every pod to Always, so that a private image on a node cannot be used without credentials.

use planesmith_access::admission::{AdmissionFuture, Attributes, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::core::v1::{Pod, PodSpec};
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::status::ApiResult;

use super::any_container::containers;

const ALWAYS: &str = "Always";

/// Makes all containers pull their images.
pub(super) struct AlwaysPullImages;

impl Plugin for AlwaysPullImages {
    fn name(&self) -> &'static str {
        "AlwaysPullImages"
    }

    fn handles(&self, operation: Operation, _: Phase) -> bool {
        matches!(operation, Operation::Create | Operation::Update)
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        if concerns(attributes, objects)
            && let Some(pod) = objects.new_as_mut::<Pod>()
        {
            let spec = &mut pod.spec;
            for container in spec.init_containers.iter_mut().chain(&mut spec.containers) {
                ALWAYS.clone_into(&mut container.image_pull_policy);
            }
            for container in &mut spec.ephemeral_containers {
                ALWAYS.clone_into(&mut container.ephemeral_container_common.image_pull_policy);
            }
            for image in spec
                .volumes
                .iter_mut()
                .filter_map(|volume| volume.volume_source.image.as_mut())
            {
                ALWAYS.clone_into(&mut image.pull_policy);
            }
        }
        decided(Ok(()))
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        decided(check(attributes, objects))
    }
}

/// True if a pod is new, or an update adds an image to it.
fn concerns(attributes: &Attributes<'_>, objects: &Objects<'_>) -> bool {
    let Some(pod) = objects.new_as::<Pod>().filter(|_| attributes.subresource.is_empty()) else {
        return false;
    };
    let images = |spec: &PodSpec| {
        containers(spec)
            .map(|container| container.image.to_owned())
            .collect::<Vec<_>>()
    };
    objects.old_as::<Pod>().is_none_or(|old| {
        let known = images(&old.spec);
        images(&pod.spec).iter().any(|image| !known.contains(image))
    })
}

fn check(attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
    let Some(pod) = objects.new_as::<Pod>().filter(|_| concerns(attributes, objects)) else {
        return Ok(());
    };
    let mut errors = FieldErrors::default();
    let sorts = [
        ("initContainers", pod.spec.init_containers.len()),
        ("containers", pod.spec.containers.len()),
        ("ephemeralContainers", pod.spec.ephemeral_containers.len()),
    ];
    let places = sorts
        .iter()
        .flat_map(|(sort, count)| (0..*count).map(move |index| (sort, index)));
    for ((sort, index), container) in places.zip(containers(&pod.spec)) {
        if container.image_pull_policy != ALWAYS {
            let field = format!("spec.{sort}[{index}].imagePullPolicy");
            errors.not_supported(&field, container.image_pull_policy, &[ALWAYS]);
        }
    }
    for (index, volume) in pod.spec.volumes.iter().enumerate() {
        if let Some(image) = volume
            .volume_source
            .image
            .as_ref()
            .filter(|image| image.pull_policy != ALWAYS)
        {
            let field = format!("spec.volumes[{index}].image.pullPolicy");
            errors.not_supported(&field, image.pull_policy.as_str(), &[ALWAYS]);
        }
    }
    match errors.joined() {
        None => Ok(()),
        Some(problems) => Err(attributes.forbidden(objects.new.as_deref(), problems)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::admission::testing::{Request, object};

    #[test]
    fn every_container_pulls_its_image() {
        let container = json!({"name": "c", "image": "a", "imagePullPolicy": "Never"});
        let spec = json!({"containers": [container], "initContainers": [container]});
        let pod: Pod = object(json!({"spec": spec}));
        let made = Request::create::<Pod>()
            .created(&AlwaysPullImages, pod.clone())
            .unwrap();
        assert!(containers(&made.spec).all(|container| container.image_pull_policy == ALWAYS));
        // Pods from before the plugin was enabled stay as they are.
        let kept = Request::update::<Pod>()
            .updated(&AlwaysPullImages, &pod, pod.clone())
            .unwrap();
        assert_eq!(kept, pod);
    }

    #[test]
    fn a_policy_that_others_changed_back_is_refused() {
        let pod: Pod = object(json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}}));
        let request = Request::create::<Pod>();
        let attributes = Attributes::new(Operation::Create, request.resource, &request.user);
        let mut pod = pod;
        let objects = Objects {
            new: Some(&mut pod),
            old: None,
        };
        assert_eq!(
            check(&attributes, &objects).unwrap_err().message(),
            "pods \"p\" is forbidden: spec.containers[0].imagePullPolicy: Unsupported value: \"\": supported values: \
             \"Always\""
        );
    }
}
