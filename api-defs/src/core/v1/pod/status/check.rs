//! What is wrong with a change of a pod's status.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::names;

use crate::core::v1::container::check_id;
use crate::core::v1::pod::resource_claim::check_claim_statuses;
use crate::core::v1::pod::{Pod, PodOptions, PodSpec};
use crate::core::v1::{Container, ContainerStatus, PodCondition, ResourceStatus};

/// Conditions that are not qualified by a domain.
const OWN_CONDITIONS: [&str; 3] = ["PodScheduled", "Ready", "Initialized"];

const HEALTH: [&str; 3] = ["Healthy", "Unhealthy", "Unknown"];

impl Pod {
    /// Reports what a write to the status may not be.
    pub(in crate::core::v1::pod) fn check_status_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.check_annotations_update(old, PodOptions::of_pod(Some(old)), errors);
        check_conditions(&self.status.conditions, errors);
        let mut errors = errors.at("status");
        let nominated = self.status.nominated_node_name.as_str();
        if nominated != old.status.nominated_node_name && !nominated.is_empty() {
            for problem in names::dns_subdomain(nominated) {
                errors.invalid("nominatedNodeName", nominated, problem);
            }
        }
        if self.status.qos_class != old.status.qos_class {
            errors.invalid("qosClass", &self.status.qos_class, "field is immutable");
        }
        self.check_transitions(old, &mut errors);
        check_claim_statuses(
            &self.status.resource_claim_statuses,
            &self.spec.resource_claims,
            &mut errors,
        );
        self.check_pod_ips(&mut errors);
        self.check_host_ips(&mut errors);
        let status = &self.status;
        let lists: [(_, _, &[Container]); 3] = [
            ("containerStatuses", &status.container_statuses, &self.spec.containers),
            (
                "initContainerStatuses",
                &status.init_container_statuses,
                &self.spec.init_containers,
            ),
            ("ephemeralContainerStatuses", &status.ephemeral_container_statuses, &[]),
        ];
        for (field, statuses, _) in lists {
            check_users(field, statuses, &self.spec, &mut errors);
        }
        for (field, statuses, containers) in lists {
            check_devices(field, statuses, containers, &mut errors);
        }
    }

    /// Containers that ended for good do not come back.
    fn check_transitions(&self, old: &Self, errors: &mut FieldErrors) {
        let (new, spec) = (&self.status, &old.spec);
        let policy = spec.restart_policy.as_str();
        let may_restart = |status: &ContainerStatus, policy: &str| {
            let failed = status.state.terminated.as_ref().is_some_and(|end| end.exit_code != 0);
            policy == "Always" || failed && policy == "OnFailure"
        };
        let sidecar = |status: &ContainerStatus| {
            let container = spec
                .init_containers
                .iter()
                .find(|container| container.name == status.name);
            container.is_some_and(Container::is_sidecar)
        };
        check_ended(
            "containerStatuses",
            &new.container_statuses,
            &old.status.container_statuses,
            errors,
            |status| may_restart(status, policy),
        );
        let old_statuses = &old.status.init_container_statuses;
        check_ended(
            "initContainerStatuses",
            &new.init_container_statuses,
            old_statuses,
            errors,
            |status| may_restart(status, policy) || sidecar(status),
        );
        let old_statuses = &old.status.ephemeral_container_statuses;
        let field = "ephemeralContainerStatuses";
        check_ended(field, &new.ephemeral_container_statuses, old_statuses, errors, |_| {
            false
        });
    }

    fn check_pod_ips(&self, errors: &mut FieldErrors) {
        const FIELD: &str = "podIPs";
        let ips = &self.status.pod_ips;
        for (index, ip) in ips.iter().enumerate() {
            for problem in names::ip_address(&ip.ip) {
                errors.at_index(FIELD, index).invalid("", &ip.ip, problem);
            }
        }
        let texts: Vec<&str> = ips.iter().map(|ip| ip.ip.as_str()).collect();
        if texts.len() < 2 {
            return;
        }
        check_families(FIELD, &texts, GoValue(ips), errors);
        let mut seen = BTreeSet::new();
        for (index, ip) in ips.iter().enumerate().filter(|(_, ip)| !seen.insert(&ip.ip)) {
            errors.at_index(FIELD, index).duplicate("", GoValue(ip));
        }
    }

    fn check_host_ips(&self, errors: &mut FieldErrors) {
        const FIELD: &str = "hostIPs";
        let ips = &self.status.host_ips;
        if let Some(first) = ips.first().filter(|first| first.ip != self.status.host_ip) {
            errors
                .at_index(FIELD, 0)
                .invalid("ip", &first.ip, "must be equal to `hostIP`");
        }
        for (index, ip) in ips.iter().enumerate() {
            for problem in names::ip_address(&ip.ip) {
                errors.at_index(FIELD, index).invalid("", &ip.ip, problem);
            }
        }
        let texts: Vec<&str> = ips.iter().map(|ip| ip.ip.as_str()).collect();
        if texts.len() < 2 {
            return;
        }
        let mut seen = BTreeSet::new();
        for (index, ip) in ips.iter().enumerate().filter(|(_, ip)| !seen.insert(&ip.ip)) {
            errors.at_index(FIELD, index).duplicate("", GoValue(ip));
        }
        check_families(FIELD, &texts, GoValue(ips), errors);
    }
}

fn check_conditions(conditions: &[PodCondition], errors: &mut FieldErrors) {
    for (index, condition) in conditions.iter().enumerate() {
        let type_ = condition.type_.as_str();
        if !OWN_CONDITIONS.contains(&type_) {
            for problem in names::qualified_name(type_) {
                errors
                    .at_index("metadata.conditions", index)
                    .invalid("Type", type_, problem);
            }
        }
    }
}

fn check_ended(
    field: &str,
    new: &[ContainerStatus],
    old: &[ContainerStatus],
    errors: &mut FieldErrors,
    may_restart: impl Fn(&ContainerStatus) -> bool,
) {
    let ended = |status: &ContainerStatus| status.state.terminated.is_some() && !may_restart(status);
    for (index, old) in old.iter().enumerate().filter(|(_, old)| ended(old)) {
        for _ in new
            .iter()
            .filter(|new| new.name == old.name && new.state.terminated.is_none())
        {
            let problem = "may not be transitioned to non-terminated state";
            errors.at_index(field, index).forbidden("state", problem);
        }
    }
}

/// At most one address of each family.
fn check_families(field: &str, ips: &[&str], shown: GoValue<'_>, errors: &mut FieldErrors) {
    let both = names::one_per_family(ips.iter().copied());
    if let Err(problem) = &both {
        let problem = format!("failed to check for dual stack with error:{problem}");
        errors.internal(field, problem);
    }
    if both != Ok(true) || ips.len() > 2 {
        errors.invalid(field, shown, "may specify no more than one IP for each IP family");
    }
}

fn check_users(field: &str, statuses: &[ContainerStatus], spec: &PodSpec, errors: &mut FieldErrors) {
    for (index, status) in statuses.iter().enumerate() {
        let Some(user) = status.user.as_ref().and_then(|user| user.linux.as_ref()) else {
            continue;
        };
        let mut errors = errors.at_index(field, index);
        if spec.is_of("windows") {
            errors.forbidden("linux", "cannot be set for a windows pod");
            continue;
        }
        check_id("linux.uid", user.uid, &mut errors);
        check_id("linux.gid", user.gid, &mut errors);
        for (index, id) in user.supplemental_groups.iter().enumerate() {
            check_id("", *id, &mut errors.at_index("linux.supplementalGroups", index));
        }
    }
}

fn check_devices(field: &str, statuses: &[ContainerStatus], containers: &[Container], errors: &mut FieldErrors) {
    for (index, status) in statuses.iter().enumerate() {
        let container = containers.iter().find(|container| container.name == status.name);
        for (position, device) in status.allocated_resources_status.iter().enumerate() {
            let mut errors = errors.at_index(field, index);
            let mut errors = errors.at_index("allocatedResourcesStatus", position);
            if let Some(container) = container {
                check_device_name(device, container, &mut errors);
            }
            let mut known = BTreeSet::new();
            for (index, health) in device.resources.iter().enumerate() {
                let mut errors = errors.at_index("resources", index);
                if !HEALTH.contains(&health.health.as_str()) {
                    errors.not_supported("health", &health.health, &HEALTH);
                }
                if !known.insert(&health.resource_id) {
                    errors.duplicate("resourceID", &health.resource_id);
                }
            }
        }
    }
}

fn check_device_name(device: &ResourceStatus, container: &Container, errors: &mut FieldErrors) {
    let name = device.name.as_str();
    let (found, problem) = match name.strip_prefix("claim:") {
        Some(claim) => (
            container
                .resources
                .claims
                .iter()
                .any(|known| match known.request.as_str() {
                    "" => known.name == claim,
                    request => claim.split_once('/') == Some((known.name.as_str(), request)),
                }),
            "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or \
             'claim:<claimName>' if request is empty",
        ),
        None => (
            container.resources.requests.contains_key(name),
            "must match one of the container's resource requests",
        ),
    };
    if !found {
        errors.invalid("name", name, problem);
    }
}
