//! Quality of service classes of pods.

use std::collections::BTreeMap;

use crate::core::v1::resource_requirements::add;
use crate::core::v1::{Pod, PodSpec, ResourceList, ResourceRequirements};

/// Resources that determine the class.
const COUNTED: [&str; 2] = ["cpu", "memory"];

impl Pod {
    /// Returns the stored class of the pod, or the computed one if none is stored.
    #[must_use]
    pub fn quality_class(&self) -> &str {
        match self.status.qos_class.as_str() {
            "" => self.computed_quality_class(),
            class => class,
        }
    }

    /// Returns the class that results from the spec: Guaranteed, Burstable or BestEffort.
    #[must_use]
    pub fn computed_quality_class(&self) -> &'static str {
        let (requests, limits, every_limit) = self.spec.counted_resources();
        if requests.is_empty() && limits.is_empty() {
            "BestEffort"
        } else if every_limit && requests == limits {
            "Guaranteed"
        } else {
            "Burstable"
        }
    }
}

impl PodSpec {
    /// Returns the requests, the limits, and true if the pod, or without pod-level resources each container, limits all
    /// counted resources.
    fn counted_resources(&self) -> (ResourceList, ResourceList, bool) {
        let all: Vec<&ResourceRequirements> = match &self.resources {
            Some(resources) => vec![resources],
            None => {
                let containers = self.containers.iter().chain(&self.init_containers);
                containers.map(|container| &container.resources).collect()
            }
        };
        let (mut requests, mut limits) = (BTreeMap::new(), BTreeMap::new());
        let mut every_limit = true;
        for resources in all {
            add(&mut requests, &counted(&resources.requests));
            let own_limits = counted(&resources.limits);
            every_limit &= own_limits.len() == COUNTED.len();
            add(&mut limits, &own_limits);
        }
        (requests, limits, every_limit)
    }
}

fn counted(list: &ResourceList) -> ResourceList {
    let counts = |name: &String| COUNTED.contains(&name.as_str());
    let found = list.iter().filter(|(name, _)| counts(name));
    found
        .filter(|(_, amount)| !amount.is_zero() && !amount.is_negative())
        .map(|(name, amount)| (name.clone(), amount.clone()))
        .collect()
}
