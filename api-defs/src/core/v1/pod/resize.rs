//! Updates of `/resize`, which change the resources of a running pod.

use planesmith_machinery::feature::Features;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::strategy::Context;

use super::annotations::MIRROR;
use super::{Pod, PodOptions, PodSpec};
use crate::core::v1::{Container, ResourceList, ResourceRequirements};
use crate::features::{IN_PLACE_POD_LEVEL_RESOURCES_VERTICAL_SCALING, IN_PLACE_POD_VERTICAL_SCALING_INIT_CONTAINERS};

impl Pod {
    /// Reverts everything to `old` except the resources. If the containers differ, nothing is reverted, so that the
    /// validation refuses the update.
    pub fn keep_all_but_resources(&mut self, context: &Context<'_>, old: &Self) {
        let same = |new: &[Container], old: &[Container]| {
            new.len() == old.len() && new.iter().zip(old).all(|(new, old)| new.name == old.name)
        };
        let (new_spec, old_spec) = (&self.spec, &old.spec);
        if new_spec.containers.len() != old_spec.containers.len()
            || new_spec.init_containers.len() != old_spec.init_containers.len()
        {
            return;
        }
        let merge = |new: &[Container], old: &[Container]| match same(new, old) {
            true => new
                .iter()
                .zip(old)
                .map(|(new, old)| old.with_resources_of(new))
                .collect(),
            false => new.to_vec(),
        };
        let containers = merge(&new_spec.containers, &old_spec.containers);
        let init_containers = merge(&new_spec.init_containers, &old_spec.init_containers);
        let of_pod = self.spec.resources.take();
        self.spec = old.spec.clone();
        self.spec.resources = of_pod;
        self.status = old.status.clone();
        self.spec.containers = containers;
        self.spec.init_containers = init_containers;
        self.metadata.keep_for_status(&old.metadata);
        self.spec.drop_disabled(Some(&old.spec), context.features);
    }

    /// Reports illegal changes of the resources of `old`. Generic code checks the metadata.
    pub fn check_resize(&self, old: &Self, errors: &mut FieldErrors) {
        let refusal = if old.metadata.annotations.contains_key(MIRROR) {
            Some("static pods cannot be resized")
        } else if old.spec.is_of("windows") {
            Some("windows pods cannot be resized")
        } else {
            None
        };
        if let Some(refusal) = refusal {
            errors.clear();
            errors.forbidden("[]", refusal);
            return;
        }
        let before = errors.count();
        self.check_always(PodOptions::of_pod(Some(old)), errors);
        {
            let mut errors = errors.at("spec");
            if old.quality_class() != self.computed_quality_class() {
                let problem = "Pod QOS Class may not change as a result of resizing";
                errors.invalid("", &self.status.qos_class, problem);
            }
            if !old.can_be_resized_where_it_runs() {
                errors.forbidden("", "Pod running on node without support for resize");
            }
        }
        let mut rest = self.spec.clone();
        let whole = |pod: &Self| {
            pod.spec
                .resources
                .as_ref()
                .is_some_and(ResourceRequirements::has_amounts)
        };
        if whole(self) || whole(old) {
            if !errors.features().has(&IN_PLACE_POD_LEVEL_RESOURCES_VERTICAL_SCALING) {
                return errors.forbidden(
                    "[]",
                    "resize of pods with pod-level resources is forbidden when \
                     InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled",
                );
            }
            check_whole(&mut rest.resources, old.spec.resources.as_ref(), &mut errors.at("spec"));
        }
        let mut errors = errors.at("spec");
        if !self.has_containers_of(old, &mut errors) {
            return;
        }
        self.check_removals(old, &mut errors);
        check_other_changes(rest, old, before, &mut errors);
    }

    /// Reports containers that were added, removed, renamed or moved. Returns true if there are none.
    fn has_containers_of(&self, old: &Self, errors: &mut FieldErrors) -> bool {
        let before = errors.count();
        for (field, new, old) in [
            ("containers", &self.spec.containers, &old.spec.containers),
            ("initContainers", &self.spec.init_containers, &old.spec.init_containers),
        ] {
            if new.len() != old.len() {
                errors.forbidden(field, format!("{field} may not be added or removed on resize"));
                continue;
            }
            let pairs = new.iter().zip(old).enumerate();
            for (index, _) in pairs.filter(|(_, (new, old))| new.name != old.name) {
                let problem = format!("{field} may not be renamed or reordered on resize");
                errors.at_index(field, index).forbidden("name", problem);
            }
        }
        errors.count() == before
    }

    fn check_removals(&self, old: &Self, errors: &mut FieldErrors) {
        let pairs = self
            .spec
            .init_containers
            .iter()
            .zip(&old.spec.init_containers)
            .enumerate();
        for (index, (new, old)) in pairs {
            if !old.can_be_resized_as_init(errors.features()) {
                continue;
            }
            let mut errors = errors.at_index("initContainers", index);
            new.resources
                .check_removals(&old.resources, "", &mut errors.at("resources"));
        }
        for (index, (new, old)) in self.spec.containers.iter().zip(&old.spec.containers).enumerate() {
            let mut errors = errors.at_index("containers", index);
            new.resources
                .check_removals(&old.resources, "", &mut errors.at("resources"));
        }
    }

    /// True if the kubelet supports resizing, which it shows by reporting the resources of running containers. Unknown
    /// and therefore true while no container runs.
    fn can_be_resized_where_it_runs(&self) -> bool {
        let mut running = self.status.container_statuses.iter();
        running
            .find(|status| status.state.running.is_some())
            .is_none_or(|status| status.resources.is_some())
    }
}

/// Checks that pod-level resources change in CPU and memory only, and reverts the checked changes in `new`.
fn check_whole(new: &mut Option<ResourceRequirements>, old: Option<&ResourceRequirements>, errors: &mut FieldErrors) {
    let none = ResourceRequirements::default();
    match (&*new, old) {
        (None, Some(_)) => return errors.forbidden("resources", "pod-level resources cannot be removed"),
        (Some(new), Some(old)) => new.check_removals(old, "pod-level ", &mut errors.at("resources")),
        (_, None) => {}
    }
    if let Some(resources) = new {
        take_back(&mut resources.limits, &old.unwrap_or(&none).limits);
        take_back(&mut resources.requests, &old.unwrap_or(&none).requests);
        if old.is_none() && *resources == none {
            *new = None;
        }
    }
    if new.as_ref() != old {
        errors.forbidden("", "only cpu and memory resources are mutable at pod-level");
    }
}

/// Reports changes other than CPU and memory; `before` is the number of errors before the check.
fn check_other_changes(mut new: PodSpec, old: &Pod, before: usize, errors: &mut FieldErrors) {
    const ONLY: &str = "only cpu and memory resources are mutable";
    for (container, old) in new.containers.iter_mut().zip(&old.spec.containers) {
        container.take_back_resources(old);
        if container != old {
            errors.forbidden("", ONLY);
        }
    }
    let init_containers = new.init_containers.iter_mut().zip(&old.spec.init_containers);
    for (index, (container, old)) in init_containers.enumerate() {
        check_init_container(index, container, old, errors);
    }
    if errors.count() == before && new != old.spec {
        errors.forbidden("", ONLY);
    }
}

/// Reports changes of an init container other than CPU and memory, and those if it cannot be resized. Reverts the
/// checked changes in `container`.
fn check_init_container(index: usize, container: &mut Container, old: &Container, errors: &mut FieldErrors) {
    let modified = container != old;
    if !container.can_be_resized_as_init(errors.features()) {
        if modified {
            errors.forbidden("", "resources for non-sidecar init containers are immutable");
        }
        return;
    }
    container.take_back_resources(old);
    let errors = &mut *errors.at_index("initContainers", index);
    if container != old {
        let problem = "only cpu and memory resources for init or sidecar containers are mutable";
        errors.forbidden("", problem);
    }
    // Pods that were stored before this rule existed can have such policies, even several.
    let policies = container.resize_policy.iter();
    let restarts = policies.filter(|policy| policy.restart_policy == "RestartContainer");
    if modified && !container.is_sidecar() {
        let problem = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized";
        restarts.for_each(|_| errors.forbidden("", problem));
    }
}

impl Container {
    /// True if the resources of this init container can change.
    fn can_be_resized_as_init(&self, features: &Features) -> bool {
        self.is_sidecar() || features.has(&IN_PLACE_POD_VERTICAL_SCALING_INIT_CONTAINERS)
    }

    fn with_resources_of(&self, new: &Self) -> Self {
        Self {
            resources: new.resources.clone(),
            resize_policy: new.resize_policy.clone(),
            ..self.clone()
        }
    }

    /// Reverts CPU and memory. Claims and the resize policy are not affected.
    fn take_back_resources(&mut self, old: &Self) {
        self.resources.take_back(&old.resources);
    }
}

impl ResourceRequirements {
    fn take_back(&mut self, old: &Self) {
        take_back(&mut self.limits, &old.limits);
        take_back(&mut self.requests, &old.requests);
        self.claims.clear();
    }

    /// Reports removed entries; `whose` names the kind of resources in messages.
    fn check_removals(&self, old: &Self, whose: &str, errors: &mut FieldErrors) {
        let lacks = |new: &ResourceList, old: &ResourceList| old.keys().any(|name| !new.contains_key(name));
        if lacks(&self.requests, &old.requests) {
            errors.forbidden("requests", format!("{whose}resource requests cannot be removed"));
        }
        if lacks(&self.limits, &old.limits) {
            errors.forbidden("limits", format!("{whose}resource limits cannot be removed"));
        }
    }
}

fn take_back(new: &mut ResourceList, old: &ResourceList) {
    for name in ["cpu", "memory"] {
        match old.get(name) {
            Some(amount) => new.insert(name.to_owned(), amount.clone()),
            None => new.remove(name),
        };
    }
}
