//! Validation of settings that share the node's namespaces, and of settings that the operating system lacks.

use planesmith_machinery::field_error::FieldErrors;

use super::{PodOptions, PodSpec};
use crate::core::v1::{Container, PodSecurityContext};
use crate::features::{PRIVILEGED_CONTAINERS, USER_NAMESPACES_HOST_NETWORK_SUPPORT};

const NOT_ON_WINDOWS: &str = "cannot be set for a windows pod";
const NOT_WITH_OWN_USERS: &str = "when `hostUsers` is false";

impl PodSpec {
    /// Checks that ports in the node's network equal the node ports. Templates may leave them unset.
    pub(super) fn check_host_ports(&self, options: PodOptions, errors: &mut FieldErrors) {
        if !self.host_network {
            return;
        }
        for (index, container) in self.containers.iter().enumerate() {
            for (position, port) in container.ports.iter().enumerate() {
                let given = options.of_pod || port.host_port != 0;
                if given && port.host_port != port.container_port {
                    let problem = "must match `containerPort` when `hostNetwork` is true";
                    errors
                        .at_index("containers", index)
                        .at_index("ports", position)
                        .invalid("hostPort", port.host_port, problem);
                }
            }
        }
    }

    /// Checks that a pod with its own user namespace shares no other namespaces with the node. As in kube-apiserver,
    /// two field paths have a capital letter.
    pub(super) fn check_host_users(&self, options: PodOptions, errors: &mut FieldErrors) {
        if self.host_users != Some(false) {
            return;
        }
        let in_network =
            options.own_users_in_host_network || errors.features().has(&USER_NAMESPACES_HOST_NETWORK_SUPPORT);
        let shared = [
            ("hostNetwork", self.host_network && !in_network),
            ("HostPID", self.host_pid),
            ("HostIPC", self.host_ipc),
        ];
        for (field, _) in shared.into_iter().filter(|(_, shared)| *shared) {
            errors.forbidden(field, NOT_WITH_OWN_USERS);
        }
        if !options.own_users_with_devices {
            self.visit_containers(errors, &mut |container, errors| {
                if !container.volume_devices.is_empty() {
                    errors.forbidden("volumeDevices", NOT_WITH_OWN_USERS);
                }
            });
        }
    }

    /// True if any container uses a volume as a block device.
    pub(super) fn uses_devices(&self) -> bool {
        let containers = self.init_containers.iter().chain(&self.containers);
        let ephemeral = self.ephemeral_containers.iter();
        containers
            .map(|container| &container.volume_devices)
            .chain(ephemeral.map(|container| &container.ephemeral_container_common.volume_devices))
            .any(|devices| !devices.is_empty())
    }

    /// Checks containers that run as processes of a Windows node.
    pub(super) fn check_host_process(&self, errors: &mut FieldErrors) {
        let windows = self
            .security_context
            .as_ref()
            .and_then(|context| context.windows_options.as_ref());
        let of_pod = windows.and_then(|windows| windows.host_process);
        let (mut all, mut on_host) = (0, 0);
        self.visit_containers(errors, &mut |container, errors| {
            all += 1;
            let own = host_process(container);
            if let (Some(of_pod), Some(own)) = (of_pod, own)
                && of_pod != own
            {
                let problem = format!("pod hostProcess value must be identical if both are specified, was {of_pod}");
                errors.invalid("securityContext.windowsOptions.hostProcess", own, problem);
            }
            on_host += u32::from(own.or(of_pod) == Some(true));
        });
        if on_host == 0 {
            return;
        }
        if on_host != all {
            let problem =
                "If pod contains any hostProcess containers then all containers must be HostProcess containers";
            errors.invalid("", "", problem);
        }
        if !self.host_network {
            let problem = "hostNetwork must be true if pod contains any hostProcess containers";
            errors.invalid("hostNetwork", false, problem);
        }
        if !errors.features().has(&PRIVILEGED_CONTAINERS) {
            errors.forbidden("", "hostProcess containers are disallowed by cluster policy");
        }
    }

    pub(super) fn check_os(&self, errors: &mut FieldErrors) {
        match self.os.as_ref().map(|os| os.name.as_str()) {
            None => {}
            Some("") => errors.required("os.name", ""),
            Some("linux") => self.check_linux(errors),
            Some("windows") => self.check_windows(errors),
            Some(other) => errors.not_supported("os", other, &["linux", "windows"]),
        }
    }

    fn check_linux(&self, errors: &mut FieldErrors) {
        const FIELD: &str = "securityContext.windowsOptions";
        const PROBLEM: &str = "windows options cannot be set for a linux pod";
        if self
            .security_context
            .as_ref()
            .is_some_and(|context| context.windows_options.is_some())
        {
            errors.forbidden(FIELD, PROBLEM);
        }
        self.visit_containers(errors, &mut |container, errors| {
            let context = container.security_context.as_ref();
            if context.is_some_and(|context| context.windows_options.is_some()) {
                errors.forbidden(FIELD, PROBLEM);
            }
        });
    }

    fn check_windows(&self, errors: &mut FieldErrors) {
        if let Some(context) = &self.security_context {
            self.refuse_on_windows(context, errors);
        }
        self.visit_containers(errors, &mut |container, errors| {
            let Some(context) = &container.security_context else {
                return;
            };
            let given = [
                ("appArmorProfile", context.app_armor_profile.is_some()),
                ("seLinuxOptions", context.se_linux_options.is_some()),
                ("seccompProfile", context.seccomp_profile.is_some()),
                ("capabilities", context.capabilities.is_some()),
                ("readOnlyRootFilesystem", context.read_only_root_filesystem.is_some()),
                ("privileged", context.privileged.is_some()),
                ("allowPrivilegeEscalation", context.allow_privilege_escalation.is_some()),
                ("procMount", context.proc_mount.is_some()),
                ("runAsUser", context.run_as_user.is_some()),
                ("runAsGroup", context.run_as_group.is_some()),
            ];
            refuse(&given, &mut errors.at("securityContext"));
        });
    }

    fn refuse_on_windows(&self, context: &PodSecurityContext, errors: &mut FieldErrors) {
        const GROUPS: &str = "securityContext.supplementalGroups";
        let has_groups = !context.supplemental_groups.is_empty() || errors.was_sent_empty(GROUPS);
        let given = [
            ("securityContext.appArmorProfile", context.app_armor_profile.is_some()),
            ("securityContext.seLinuxOptions", context.se_linux_options.is_some()),
            ("hostUsers", self.host_users.is_some()),
            ("hostPID", self.host_pid),
            ("hostIPC", self.host_ipc),
            ("securityContext.seccompProfile", context.seccomp_profile.is_some()),
            ("securityContext.fsGroup", context.fs_group.is_some()),
            (
                "securityContext.fsGroupChangePolicy",
                context.fs_group_change_policy.is_some(),
            ),
            ("securityContext.sysctls", !context.sysctls.is_empty()),
            ("shareProcessNamespace", self.share_process_namespace.is_some()),
            ("securityContext.runAsUser", context.run_as_user.is_some()),
            ("securityContext.runAsGroup", context.run_as_group.is_some()),
            (GROUPS, has_groups),
            (
                "securityContext.supplementalGroupsPolicy",
                context.supplemental_groups_policy.is_some(),
            ),
            (
                "securityContext.seLinuxChangePolicy",
                context.se_linux_change_policy.is_some(),
            ),
        ];
        refuse(&given, errors);
    }
}

fn refuse(given: &[(&str, bool)], errors: &mut FieldErrors) {
    for (field, _) in given.iter().filter(|(_, given)| *given) {
        errors.forbidden(field, NOT_ON_WINDOWS);
    }
}

fn host_process(container: &Container) -> Option<bool> {
    let windows = container.security_context.as_ref()?.windows_options.as_ref()?;
    windows.host_process
}
