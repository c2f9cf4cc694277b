//! Validation of updates of a pod's status.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::{ip, names};

use crate::core::v1::container::check_id;
use crate::core::v1::pod::resource_claim::check_claim_statuses;
use crate::core::v1::pod::{Pod, PodOptions, PodSpec};
use crate::core::v1::{Container, ContainerStatus, PodCondition, ResourceStatus};
use crate::features::CLEARING_NOMINATED_NODE_NAME_AFTER_BINDING;

/// Condition types without a domain prefix.
const OWN_CONDITIONS: [&str; 3] = ["PodScheduled", "Ready", "Initialized"];

const HEALTH: [&str; 3] = ["Healthy", "Unhealthy", "Unknown"];

impl Pod {
    /// Reports errors in an update of the status.
    pub(in crate::core::v1::pod) fn check_status_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.check_annotations_update(old, PodOptions::of_pod(Some(old)), errors);
        let mut errors = errors.at("status");
        check_conditions(&self.status.conditions, &mut errors);
        let nominated = self.status.nominated_node_name.as_str();
        if nominated != old.status.nominated_node_name && !nominated.is_empty() {
            for problem in names::dns_subdomain(nominated) {
                errors.invalid("nominatedNodeName", nominated, problem);
            }
            if !old.spec.node_name.is_empty() && errors.features().has(&CLEARING_NOMINATED_NODE_NAME_AFTER_BINDING) {
                let problem = "may not be set on pods that are already bound to a node";
                errors.forbidden("nominatedNodeName", problem);
            }
        }
        if self.status.observed_generation < 0 {
            let problem = "must be a non-negative integer";
            errors.invalid("observedGeneration", self.status.observed_generation, problem);
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
        if let Some(status) = &self.status.extended_resource_claim_status {
            status.check(&self.spec, &mut errors.at("extendedResourceClaimStatus"));
        }
        self.check_pod_ips(old, &mut errors);
        self.check_host_ips(old, &mut errors);
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
        for (field, statuses, containers) in &lists[..2] {
            check_devices(field, statuses, containers, &mut errors);
        }
        for (index, status) in status.ephemeral_container_statuses.iter().enumerate() {
            if !status.allocated_resources_status.is_empty() {
                let mut errors = errors.at_index("ephemeralContainerStatuses", index);
                errors.forbidden("allocatedResourcesStatus", "must not be specified in container status");
            }
        }
    }

    /// Reports containers that were permanently terminated and run again.
    fn check_transitions(&self, old: &Self, errors: &mut FieldErrors) {
        let (new, old, spec) = (&self.status, &old.status, &old.spec);
        for (field, containers, new, old) in [
            (
                "containerStatuses",
                &spec.containers,
                &new.container_statuses,
                &old.container_statuses,
            ),
            (
                "initContainerStatuses",
                &spec.init_containers,
                &new.init_container_statuses,
                &old.init_container_statuses,
            ),
        ] {
            if !spec.restarts_all() {
                let may_restart = |status: &ContainerStatus, code| {
                    let mut containers = containers.iter();
                    let container = containers.find(|container| container.name == status.name);
                    container.is_some_and(|container| container.may_restart(&spec.restart_policy, code))
                };
                check_ended(field, new, old, may_restart, errors);
            }
        }
        check_ended(
            "ephemeralContainerStatuses",
            &new.ephemeral_container_statuses,
            &old.ephemeral_container_statuses,
            |_, _| false,
            errors,
        );
    }

    fn check_pod_ips(&self, old: &Self, errors: &mut FieldErrors) {
        let of = |pod: &Self| -> Vec<String> { pod.status.pod_ips.iter().map(|ip| ip.ip.clone()).collect() };
        check_ips("podIPs", &of(self), &of(old), GoValue(&self.status.pod_ips), errors);
    }

    fn check_host_ips(&self, old: &Self, errors: &mut FieldErrors) {
        const FIELD: &str = "hostIPs";
        let of = |pod: &Self| -> Vec<String> { pod.status.host_ips.iter().map(|ip| ip.ip.clone()).collect() };
        let ips = &self.status.host_ips;
        if let Some(first) = ips.first().filter(|first| first.ip != self.status.host_ip) {
            errors
                .at_index(FIELD, 0)
                .invalid("ip", &first.ip, "must be equal to `hostIP`");
        }
        check_ips(FIELD, &of(self), &of(old), GoValue(ips), errors);
    }
}

/// Reports new malformed addresses, and several addresses of one IP family.
fn check_ips(field: &str, ips: &[String], old: &[String], shown: GoValue<'_>, errors: &mut FieldErrors) {
    for (index, ip) in ips.iter().enumerate().filter(|(_, ip)| !old.contains(ip)) {
        for problem in ip::check_legacy(ip, errors.features()) {
            errors.at_index(field, index).invalid("", ip, problem);
        }
    }
    if ips.len() > 1 {
        check_families(field, ips, shown, errors);
    }
}

fn check_conditions(conditions: &[PodCondition], errors: &mut FieldErrors) {
    for (index, condition) in conditions.iter().enumerate() {
        let errors = &mut *errors.at_index("conditions", index);
        if condition.observed_generation < 0 {
            let problem = "must be a non-negative integer";
            errors.invalid("observedGeneration", condition.observed_generation, problem);
        }
        let type_ = condition.type_.as_str();
        if !OWN_CONDITIONS.contains(&type_) {
            for problem in names::qualified_name(type_) {
                errors.invalid("Type", type_, problem);
            }
        }
    }
}

fn check_ended(
    field: &str,
    new: &[ContainerStatus],
    old: &[ContainerStatus],
    may_restart: impl Fn(&ContainerStatus, i32) -> bool,
    errors: &mut FieldErrors,
) {
    let ended = |status: &ContainerStatus| {
        let end = status.state.terminated.as_ref();
        end.is_some_and(|end| !may_restart(status, end.exit_code))
    };
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

/// Reports several addresses of one IP family.
fn check_families(field: &str, ips: &[String], shown: GoValue<'_>, errors: &mut FieldErrors) {
    let both = names::one_per_family(ips.iter().map(String::as_str));
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
        let errors = &mut *errors.at_index(field, index);
        let mut errors = errors.at("user.linux");
        if spec.is_of("windows") {
            errors.forbidden("", "cannot be set for a windows pod");
            continue;
        }
        check_id("uid", user.uid, &mut errors);
        check_id("gid", user.gid, &mut errors);
        for (index, id) in user.supplemental_groups.iter().enumerate() {
            check_id("", *id, &mut errors.at_index("supplementalGroups", index));
        }
    }
}

/// Maximum length of a device health message, in bytes.
const MAX_HEALTH_MESSAGE: usize = 1024;

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
                match health.message.as_deref().map(str::len) {
                    Some(0) => errors.required("message", "must be non-empty if specified"),
                    Some(length) if length > MAX_HEALTH_MESSAGE => {
                        errors.too_long("message", MAX_HEALTH_MESSAGE as u64);
                    }
                    _ => {}
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
