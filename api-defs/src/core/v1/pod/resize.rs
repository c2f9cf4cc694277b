//! Writes to `/resize`: what the containers of a running pod ask for changes.

use planesmith_machinery::field_error::FieldErrors;

use super::annotations::MIRROR;
use super::{Pod, PodOptions};
use crate::core::v1::{Container, ResourceList, ResourceRequirements};

impl Pod {
    /// Takes over from `old` all but what containers ask for. When other containers are there than
    /// before, nothing is taken over, so that the change is refused.
    pub fn keep_all_but_resources(&mut self, old: &Self) {
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
        self.spec.drop_disabled(Some(&old.spec));
    }

    /// Reports what a change of the resources of `old` may not be; metadata is checked by generic code.
    pub fn check_resize(&self, old: &Self, errors: &mut FieldErrors) {
        let refusal = if old.metadata.annotations.contains_key(MIRROR) {
            Some("static pods cannot be resized")
        } else if old.spec.is_of("windows") {
            Some("windows pods cannot be resized")
        } else {
            None
        };
        if let Some(refusal) = refusal {
            *errors = FieldErrors::default();
            errors.forbidden("[]", refusal);
            return;
        }
        let before = errors.count();
        self.check_always(PodOptions::of_pod(Some(old)), errors);
        let mut errors = errors.at("spec");
        if old.quality_class() != self.computed_quality_class() {
            let problem = "Pod QOS Class may not change as a result of resizing";
            errors.invalid("", &self.status.qos_class, problem);
        }
        if !old.can_be_resized_where_it_runs() {
            errors.forbidden("", "Pod running on node without support for resize");
        }
        self.check_removals(old, &mut errors);
        self.check_other_changes(old, before, &mut errors);
    }

    fn check_removals(&self, old: &Self, errors: &mut FieldErrors) {
        if let Some(old) = &old.spec.resources {
            let none = ResourceRequirements::default();
            let new = self.spec.resources.as_ref().unwrap_or(&none);
            new.check_removals(old, &mut errors.at("resources"));
        }
        let pairs = self
            .spec
            .init_containers
            .iter()
            .zip(&old.spec.init_containers)
            .enumerate();
        for (index, (new, old)) in pairs.filter(|(_, (_, old))| old.is_sidecar()) {
            let mut errors = errors.at_index("initContainers", index);
            new.resources
                .check_removals(&old.resources, &mut errors.at("resources"));
        }
        for (index, (new, old)) in self.spec.containers.iter().zip(&old.spec.containers).enumerate() {
            let mut errors = errors.at_index("containers", index);
            new.resources
                .check_removals(&old.resources, &mut errors.at("resources"));
        }
    }

    /// Nothing but processor and memory changes.
    fn check_other_changes(&self, old: &Self, before: usize, errors: &mut FieldErrors) {
        const ONLY: &str = "only cpu and memory resources are mutable";
        let mut rest = self.spec.clone();
        let of_pod = old.spec.resources.clone().unwrap_or_default();
        match &mut rest.resources {
            Some(resources) => resources.take_back(&of_pod),
            None => rest.resources.clone_from(&old.spec.resources),
        }
        if old.spec.resources.is_none() && rest.resources.as_ref().is_some_and(|left| !left.has_amounts()) {
            rest.resources = None;
        }
        for (container, old) in rest.containers.iter_mut().zip(&old.spec.containers) {
            container.take_back_resources(old);
            if container != old {
                errors.forbidden("", ONLY);
            }
        }
        for (container, old) in rest.init_containers.iter_mut().zip(&old.spec.init_containers) {
            let sidecar = container.is_sidecar();
            if sidecar {
                container.take_back_resources(old);
            }
            if container != old {
                errors.forbidden(
                    "",
                    match sidecar {
                        true => "only cpu and memory resources for sidecar containers are mutable",
                        false => "resources for non-sidecar init containers are immutable",
                    },
                );
            }
        }
        if errors.count() == before && rest != old.spec {
            errors.forbidden("", ONLY);
        }
    }

    /// Kubelets that can resize say what the containers have. As long as none runs, nobody can tell.
    fn can_be_resized_where_it_runs(&self) -> bool {
        let mut running = self.status.container_statuses.iter();
        running
            .find(|status| status.state.running.is_some())
            .is_none_or(|status| status.resources.is_some())
    }
}

impl Container {
    fn with_resources_of(&self, new: &Self) -> Self {
        Self {
            resources: new.resources.clone(),
            resize_policy: new.resize_policy.clone(),
            ..self.clone()
        }
    }

    /// Sets processor and memory back to what they were; claims and the policy do not count as resources here.
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

    fn check_removals(&self, old: &Self, errors: &mut FieldErrors) {
        let lacks = |new: &ResourceList, old: &ResourceList| old.keys().any(|name| !new.contains_key(name));
        if lacks(&self.requests, &old.requests) {
            errors.forbidden("requests", "resource requests cannot be removed");
        }
        if lacks(&self.limits, &old.limits) {
            errors.forbidden("limits", "resource limits cannot be removed");
        }
    }
}

fn take_back(new: &mut ResourceList, old: &ResourceList) {
    if old.is_empty() {
        new.clear();
        return;
    }
    for name in ["cpu", "memory"] {
        match old.get(name) {
            Some(amount) => new.insert(name.to_owned(), amount.clone()),
            None => new.remove(name),
        };
    }
}
