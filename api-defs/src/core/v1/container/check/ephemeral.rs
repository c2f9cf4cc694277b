//! Validation of ephemeral containers, which are added to debug a running pod.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;

use super::Surroundings;
use crate::core::v1::{Container, EphemeralContainer};

/// Error text of fields that ephemeral containers cannot have.
const REFUSED: &str = "cannot be set for an Ephemeral Container";

/// Reports errors in the ephemeral containers of a pod whose other containers are `others`.
pub(crate) fn check_ephemeral_containers<'a>(
    containers: &'a [EphemeralContainer],
    others: impl Iterator<Item = &'a Container>,
    around: Surroundings<'_>,
    errors: &mut FieldErrors,
) {
    let others: BTreeSet<&str> = others.map(|container| container.name.as_str()).collect();
    let mut names = others.clone();
    for (index, ephemeral) in containers.iter().enumerate() {
        let mut errors = errors.at_index("ephemeralContainers", index);
        let container = ephemeral.as_container();
        container.check_common(around, &mut errors);
        container.check_of_pod(&mut errors);
        let name = ephemeral.ephemeral_container_common.name.as_str();
        if !names.insert(name) {
            errors.duplicate("name", name);
        }
        let target = ephemeral.target_container_name.as_str();
        if !target.is_empty() && !others.contains(target) {
            errors.not_found("targetContainerName", target);
        }
        refuse_fields(&container, &mut errors);
    }
}

fn refuse_fields(container: &Container, errors: &mut FieldErrors) {
    let resources = &container.resources;
    let given = [
        ("ports", !container.ports.is_empty()),
        (
            "resources",
            !resources.limits.is_empty() || !resources.requests.is_empty() || !resources.claims.is_empty(),
        ),
        ("resizePolicy", !container.resize_policy.is_empty()),
        ("restartPolicy", container.restart_policy.is_some()),
        ("restartPolicyRules", !container.restart_policy_rules.is_empty()),
        ("livenessProbe", container.liveness_probe.is_some()),
        ("readinessProbe", container.readiness_probe.is_some()),
        ("startupProbe", container.startup_probe.is_some()),
        ("lifecycle", container.lifecycle.is_some()),
    ];
    for (field, _) in given.into_iter().filter(|(_, given)| *given) {
        errors.forbidden(field, REFUSED);
    }
    for (index, mount) in container.volume_mounts.iter().enumerate() {
        let mut errors = errors.at_index("volumeMounts", index);
        for (field, path) in [("subPath", &mount.sub_path), ("subPathExpr", &mount.sub_path_expr)] {
            if !path.is_empty() {
                errors.forbidden(field, REFUSED);
            }
        }
    }
}

impl EphemeralContainer {
    /// Converts the ephemeral container to a regular one.
    #[must_use]
    pub fn as_container(&self) -> Container {
        let common = self.ephemeral_container_common.clone();
        Container {
            name: common.name,
            image: common.image,
            command: common.command,
            args: common.args,
            working_dir: common.working_dir,
            ports: common.ports,
            env_from: common.env_from,
            env: common.env,
            resources: common.resources,
            resize_policy: common.resize_policy,
            restart_policy: common.restart_policy,
            restart_policy_rules: common.restart_policy_rules,
            volume_mounts: common.volume_mounts,
            volume_devices: common.volume_devices,
            liveness_probe: common.liveness_probe,
            readiness_probe: common.readiness_probe,
            startup_probe: common.startup_probe,
            lifecycle: common.lifecycle,
            termination_message_path: common.termination_message_path,
            termination_message_policy: common.termination_message_policy,
            image_pull_policy: common.image_pull_policy,
            security_context: common.security_context,
            stdin: common.stdin,
            stdin_once: common.stdin_once,
            tty: common.tty,
        }
    }
}
