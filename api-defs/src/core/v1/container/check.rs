//! Validation of a pod's containers.

mod ephemeral;
mod handler;
mod mounts;
mod ports;
mod probe;
mod restart;

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

use super::{Container, env};
use crate::core::v1::pod::PodOptions;
use crate::core::v1::resource_requirements::ResourceNames;
use crate::core::v1::volume::GoodVolumes;

pub(crate) use ephemeral::check_ephemeral_containers;

const PULL_POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];
const MESSAGE_POLICIES: [&str; 2] = ["File", "FallbackToLogsOnError"];

/// The pod's properties that its containers are checked against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'a> {
    /// The volumes that containers can mount.
    pub(crate) volumes: &'a GoodVolumes<'a>,
    /// The names of the pod's device claims.
    pub(crate) claims: &'a BTreeSet<&'a str>,
    /// Exceptions to the usual rules.
    pub(crate) options: PodOptions,
    /// The pod's restart policy.
    pub(crate) restart_policy: &'a str,
    /// True if the pod uses the user namespace of the node.
    pub(crate) host_users: bool,
    /// Termination grace period of the pod in seconds.
    pub(crate) grace_period: Option<i64>,
    /// The operating system that the pod declares, if any.
    pub(crate) os: Option<&'a str>,
}

/// Reports errors in an image pull policy.
pub(crate) fn check_pull_policy(field: &str, policy: &str, errors: &mut FieldErrors) {
    match policy {
        "" => errors.required(field, ""),
        policy if !PULL_POLICIES.contains(&policy) => errors.not_supported(field, policy, &PULL_POLICIES),
        _ => {}
    }
}

/// Reports errors in the main containers of a pod.
pub(crate) fn check_containers(containers: &[Container], around: Surroundings<'_>, errors: &mut FieldErrors) {
    if containers.is_empty() {
        errors.required("containers", "");
        return;
    }
    let mut names = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        let mut errors = errors.at_index("containers", index);
        container.check_common(around, &mut errors);
        if !names.insert(&container.name) {
            errors.duplicate("name", &container.name);
        }
        container.check_life(around, &mut errors);
        container.check_restarts(around.options, &mut errors);
    }
    ports::check_conflicts(containers, "containers", errors);
}

/// Reports errors in the init containers of a pod.
pub(crate) fn check_init_containers(
    containers: &[Container],
    regular: &[Container],
    around: Surroundings<'_>,
    errors: &mut FieldErrors,
) {
    let mut names: BTreeSet<&str> = regular.iter().map(|container| container.name.as_str()).collect();
    for (index, container) in containers.iter().enumerate() {
        {
            let mut errors = errors.at_index("initContainers", index);
            container.check_common(around, &mut errors);
            container.check_restarts_of_init(around.options, &mut errors);
            if !names.insert(&container.name) && !container.name.is_empty() {
                errors.duplicate("name", &container.name);
            }
        }
        // Init containers run one after the other, so only ports of the same container conflict. As in kube-apiserver,
        // the errors have the index of the first container.
        ports::check_conflicts(std::slice::from_ref(container), "initContainers", errors);
        let mut errors = errors.at_index("initContainers", index);
        if container.is_sidecar() {
            container.check_life(around, &mut errors);
        } else {
            container.refuse_life(&mut errors);
            if !around.options.restarting_init_containers {
                container.refuse_restart_after_resizing(&mut errors);
            }
        }
    }
}

impl Container {
    /// True if the init container is a sidecar, which keeps running beside the main containers.
    #[must_use]
    pub fn is_sidecar(&self) -> bool {
        self.restart_policy.as_deref() == Some("Always")
    }

    /// Checks the rules for containers of all kinds.
    fn check_common(&self, around: Surroundings<'_>, errors: &mut FieldErrors) {
        if self.name.is_empty() {
            errors.required("name", "");
        } else {
            for problem in names::dns_label(&self.name) {
                errors.invalid("name", &self.name, problem);
            }
        }
        if self.image.is_empty() {
            errors.required("image", "");
        }
        match self.termination_message_policy.as_str() {
            "" => errors.required("terminationMessagePolicy", ""),
            policy if !MESSAGE_POLICIES.contains(&policy) => {
                errors.not_supported_in_order("terminationMessagePolicy", policy, &MESSAGE_POLICIES);
            }
            _ => {}
        }
        ports::check(&self.ports, errors);
        env::check(&self.env, errors);
        env::check_sources(&self.env_from, errors);
        mounts::check(self, around.volumes, errors);
        mounts::check_devices(self, around.volumes, errors);
        check_pull_policy("imagePullPolicy", &self.image_pull_policy, errors);
        self.resources.check(
            ResourceNames::OfContainers,
            around.claims,
            around.options,
            &mut errors.at("resources"),
        );
        restart::check_resize_policy(&self.resize_policy, around.restart_policy, errors);
        if let Some(context) = &self.security_context {
            context.check(around.host_users, &mut errors.at("securityContext"));
        }
    }

    /// Checks hooks and probes.
    fn check_life(&self, around: Surroundings<'_>, errors: &mut FieldErrors) {
        if let Some(lifecycle) = &self.lifecycle {
            lifecycle.check(around.grace_period, around.os, &mut errors.at("lifecycle"));
        }
        if let Some(probe) = &self.liveness_probe {
            probe.check_of_restarts(&mut errors.at("livenessProbe"));
        }
        if let Some(probe) = &self.readiness_probe {
            probe.check_of_readiness(&mut errors.at("readinessProbe"));
        }
        if let Some(probe) = &self.startup_probe {
            probe.check_of_restarts(&mut errors.at("startupProbe"));
        }
    }

    /// Refuses hooks and probes of an init container that runs to completion.
    fn refuse_life(&self, errors: &mut FieldErrors) {
        let given = [
            ("lifecycle", self.lifecycle.is_some()),
            ("livenessProbe", self.liveness_probe.is_some()),
            ("readinessProbe", self.readiness_probe.is_some()),
            ("startupProbe", self.startup_probe.is_some()),
        ];
        for (field, _) in given.into_iter().filter(|(_, given)| *given) {
            errors.forbidden(field, "may not be set for init containers without restartPolicy=Always");
        }
    }

    /// Checks the rules that hold in pods but not in templates, whose images may be written for other components than
    /// kubelets.
    pub(crate) fn check_of_pod(&self, errors: &mut FieldErrors) {
        if self.image.trim().len() != self.image.len() {
            let problem = "must not have leading or trailing whitespace";
            errors.invalid("image", &self.image, problem);
        }
    }
}
