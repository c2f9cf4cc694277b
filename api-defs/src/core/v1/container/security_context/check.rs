//! Validation of the security settings of containers, including those that pods share.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::names;

use crate::core::v1::volume::check_descending;
use crate::core::v1::{AppArmorProfile, SeccompProfile, SecurityContext};
use crate::features::PRIVILEGED_CONTAINERS;

const PROFILE_TYPES: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];

/// Maximum length of a profile's path, in bytes.
const LONGEST_PROFILE: usize = 4095;

/// Reports illegal user or group IDs.
pub(crate) fn check_id(field: &str, id: i64, errors: &mut FieldErrors) {
    for problem in names::in_range(id, 0, i32::MAX.into()) {
        errors.invalid(field, id, problem);
    }
}

impl SecurityContext {
    /// Reports errors in the settings of a container; `host_users` is true if the pod uses the node's user namespace.
    pub(crate) fn check(&self, host_users: bool, errors: &mut FieldErrors) {
        if self.privileged == Some(true) && !errors.features().has(&PRIVILEGED_CONTAINERS) {
            errors.forbidden("privileged", "disallowed by cluster policy");
        }
        for (field, id) in [("runAsUser", self.run_as_user), ("runAsGroup", self.run_as_group)] {
            if let Some(id) = id {
                check_id(field, id, errors);
            }
        }
        if let Some(mount) = self.proc_mount.as_deref() {
            if !matches!(mount, "Default" | "Unmasked") {
                errors.not_supported("procMount", mount, &["Default", "Unmasked"]);
            }
            if host_users && mount == "Unmasked" {
                errors.invalid("procMount", mount, "`hostUsers` must be false to use `Unmasked`");
            }
        }
        if let Some(profile) = &self.seccomp_profile {
            profile.check(&mut errors.at("seccompProfile"));
        }
        self.check_escalation(errors);
        if let Some(windows) = &self.windows_options {
            windows.check(&mut errors.at("windowsOptions"));
        }
        if let Some(profile) = &self.app_armor_profile {
            profile.check(&mut errors.at("appArmorProfile"));
        }
    }

    fn check_escalation(&self, errors: &mut FieldErrors) {
        if self.allow_privilege_escalation != Some(false) {
            return;
        }
        if self.privileged == Some(true) {
            let problem = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            errors.invalid("", GoValue(self), problem);
        }
        let added = self.capabilities.iter().flat_map(|capabilities| &capabilities.add);
        for _ in added.filter(|added| *added == "CAP_SYS_ADMIN") {
            let problem = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
            errors.invalid("", GoValue(self), problem);
        }
    }
}

impl SeccompProfile {
    /// Reports errors in a seccomp profile.
    pub(crate) fn check(&self, errors: &mut FieldErrors) {
        match self.type_.as_str() {
            "" => errors.required("type", "type is required when seccompProfile is set"),
            type_ if !PROFILE_TYPES.contains(&type_) => {
                errors.not_supported_in_order("type", type_, &PROFILE_TYPES);
            }
            _ => {}
        }
        match (self.type_.as_str(), &self.localhost_profile) {
            ("Localhost", None) => errors.required("localhostProfile", "must be set when seccomp type is Localhost"),
            ("Localhost", Some(path)) => check_descending("localhostProfile", path, errors),
            (_, Some(_)) => errors.invalid(
                "localhostProfile",
                GoValue(self),
                "can only be set when seccomp type is Localhost",
            ),
            (_, None) => {}
        }
    }
}

impl AppArmorProfile {
    /// Reports errors in an AppArmor profile.
    pub(crate) fn check(&self, errors: &mut FieldErrors) {
        const NEEDED: &str = "must be set when AppArmor type is Localhost";
        let profile = self.localhost_profile.as_deref();
        match (self.type_.as_str(), profile) {
            ("Localhost", None) => errors.required("localhostProfile", NEEDED),
            ("Localhost", Some(profile)) => {
                if profile.trim() != profile {
                    errors.invalid("localhostProfile", profile, "must not be padded with whitespace");
                } else if profile.is_empty() {
                    errors.required("localhostProfile", NEEDED);
                }
                if profile.len() > LONGEST_PROFILE {
                    errors.too_long("localhostProfile", LONGEST_PROFILE as u64);
                }
            }
            ("RuntimeDefault" | "Unconfined", Some(profile)) => {
                let problem = "can only be set when AppArmor type is Localhost";
                errors.invalid("localhostProfile", profile, problem);
            }
            ("RuntimeDefault" | "Unconfined", None) => {}
            ("", _) => errors.required("type", "type is required when appArmorProfile is set"),
            (other, _) => errors.not_supported_in_order("type", other, &PROFILE_TYPES),
        }
    }
}
