//! Applies the limit ranges of a namespace to containers, pods and claims.

mod bounds;

use std::sync::Arc;

use planesmith_access::admission::{AdmissionFuture, Attributes, Lister, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::core::v1::{Container, LimitRange, LimitRangeItem, PersistentVolumeClaim, Pod, ResourceList};
use planesmith_machinery::object::Object;
use planesmith_machinery::status::ApiResult;

use super::pod_amounts::{Side, total};
use bounds::RequestedResources;

/// The type of bounds on claims, which have no limits.
const CLAIM: &str = "PersistentVolumeClaim";
/// The annotation that lists the values that were filled in.
const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// Sets the defaults of containers, and checks requests and limits against the bounds.
pub(super) struct LimitRanger {
    pub(super) objects: Arc<dyn Lister>,
}

impl LimitRanger {
    fn ranges(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<Vec<Arc<LimitRange>>> {
        let is_pod = objects.new_as::<Pod>().is_some();
        let concerned = match (attributes.subresource, attributes.operation) {
            // The resources of a pod can only change through its subresource.
            ("", Operation::Create) | ("resize", Operation::Update) => true,
            ("", _) => !is_pod,
            _ => false,
        };
        let is_terminating = |object: &dyn Object| object.meta().deletion_timestamp.is_some();
        if !concerned || objects.old.is_some_and(is_terminating) {
            return Ok(Vec::new());
        }
        self.objects.all(attributes.namespace)
    }

    fn fill(&self, attributes: &Attributes<'_>, objects: &mut Objects<'_>) -> ApiResult<()> {
        if objects.new_as::<Pod>().is_none() {
            return Ok(());
        }
        for range in self.ranges(attributes, objects)? {
            if let Some(pod) = objects.new_as_mut::<Pod>() {
                fill_in(pod, &range);
            }
        }
        Ok(())
    }

    fn check(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        let Some(requested) = requested_resources(objects) else {
            return Ok(());
        };
        for range in self.ranges(attributes, objects)? {
            let mut problems = Vec::new();
            for item in &range.spec.limits {
                check_item(item, &requested, &mut problems);
            }
            attributes.forbid_all(objects.new.as_deref(), &problems)?;
        }
        Ok(())
    }
}

/// The requests and limits of an object, by the type of bound: one entry per container, and one for the object as a
/// whole.
fn requested_resources(objects: &Objects<'_>) -> Option<Vec<(&'static str, ResourceList, ResourceList)>> {
    if let Some(claim) = objects.new_as::<PersistentVolumeClaim>() {
        return Some(vec![(
            CLAIM,
            claim.spec.resources.requests.clone(),
            ResourceList::new(),
        )]);
    }
    let pod = objects.new_as::<Pod>()?;
    let containers = pod.spec.containers.iter().chain(&pod.spec.init_containers);
    let mut requested: Vec<_> = containers
        .map(|container| {
            let resources = &container.resources;
            ("Container", resources.requests.clone(), resources.limits.clone())
        })
        .collect();
    let whole = |side| total(&pod.spec, side);
    requested.push(("Pod", whole(Side::Requests), whole(Side::Limits)));
    Some(requested)
}

fn check_item(
    item: &LimitRangeItem,
    requested: &[(&'static str, ResourceList, ResourceList)],
    problems: &mut Vec<String>,
) {
    for (sort, requests, limits) in requested.iter().filter(|(sort, ..)| *sort == item.type_) {
        let requested = RequestedResources { sort, requests, limits };
        problems.extend(item.min.iter().filter_map(|(name, bound)| requested.below(name, bound)));
        let above = match item.type_ == CLAIM {
            true => RequestedResources::requested_above,
            false => RequestedResources::above,
        };
        problems.extend(
            item.max
                .iter()
                .filter_map(|(name, bound)| above(&requested, name, bound)),
        );
        if item.type_ == CLAIM {
            continue;
        }
        let ratios = item.max_limit_request_ratio.iter();
        problems.extend(ratios.filter_map(|(name, bound)| requested.out_of_ratio(name, bound)));
    }
}

/// Gives containers the defaults of a limit range, and lists those in an annotation.
fn fill_in(pod: &mut Pod, range: &LimitRange) {
    let (mut requests, mut limits) = (ResourceList::new(), ResourceList::new());
    for item in range.spec.limits.iter().filter(|item| item.type_ == "Container") {
        requests.extend(item.default_request.clone());
        limits.extend(item.default.clone());
    }
    let mut notes = Vec::new();
    for container in &mut pod.spec.containers {
        fill_in_container("container", container, &requests, &limits, &mut notes);
    }
    for container in &mut pod.spec.init_containers {
        fill_in_container("init container", container, &requests, &limits, &mut notes);
    }
    if !notes.is_empty() {
        let note = format!("LimitRanger plugin set: {}", notes.join("; "));
        pod.metadata.annotations.insert(ANNOTATION.to_owned(), note);
    }
}

fn fill_in_container(
    sort: &str,
    container: &mut Container,
    requests: &ResourceList,
    limits: &ResourceList,
    notes: &mut Vec<String>,
) {
    let resources = &mut container.resources;
    for (what, own, defaults) in [
        ("request", &mut resources.requests, requests),
        ("limit", &mut resources.limits, limits),
    ] {
        let missing: Vec<&str> = defaults
            .keys()
            .filter(|name| !own.contains_key(*name))
            .map(String::as_str)
            .collect();
        if !missing.is_empty() {
            notes.push(format!("{} {what} for {sort} {}", missing.join(", "), container.name));
        }
        for (name, amount) in defaults {
            own.entry(name.clone()).or_insert_with(|| amount.clone());
        }
    }
}

impl Plugin for LimitRanger {
    fn name(&self) -> &'static str {
        "LimitRanger"
    }

    fn handles(&self, operation: Operation, _: Phase) -> bool {
        matches!(operation, Operation::Create | Operation::Update)
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.fill(attributes, objects))
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
mod tests;
