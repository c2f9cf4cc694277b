//! Total resources of a pod's containers.

use std::collections::btree_map::Entry;

use crate::core::v1::{Container, PodSpec, ResourceList};

impl PodSpec {
    /// Returns the maximum requests of all containers that run at the same time.
    #[must_use]
    pub fn container_requests(&self) -> ResourceList {
        self.total(|container| &container.resources.requests)
    }

    /// Returns the maximum limits of all containers that run at the same time.
    #[must_use]
    pub fn container_limits(&self) -> ResourceList {
        self.total(|container| &container.resources.limits)
    }

    /// Computes the total: init containers run one by one, in parallel to sidecars that were started before them.
    fn total(&self, list: impl Fn(&Container) -> &ResourceList) -> ResourceList {
        let mut all = ResourceList::new();
        for container in &self.containers {
            add(&mut all, list(container));
        }
        let mut sidecars = ResourceList::new();
        let mut preparing = ResourceList::new();
        for container in &self.init_containers {
            let mut now = sidecars.clone();
            add(&mut now, list(container));
            if container.is_sidecar() {
                add(&mut all, list(container));
                sidecars.clone_from(&now);
            }
            raise(&mut preparing, &now);
        }
        raise(&mut all, &preparing);
        all
    }
}

/// Adds each amount of `list` to `sum`.
pub(crate) fn add(sum: &mut ResourceList, list: &ResourceList) {
    for (name, amount) in list {
        match sum.entry(name.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(amount.clone());
            }
            Entry::Occupied(mut entry) => {
                let total = entry.get().rounded_add(amount);
                entry.insert(total);
            }
        }
    }
}

/// Raises the amounts in `most` to those of `list`.
fn raise(most: &mut ResourceList, list: &ResourceList) {
    for (name, amount) in list {
        if most.get(name).is_none_or(|known| amount > known) {
            most.insert(name.clone(), amount.clone());
        }
    }
}
