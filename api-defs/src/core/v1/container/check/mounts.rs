//! Validation of volume mounts and devices.

use std::collections::{BTreeMap, BTreeSet};

use planesmith_machinery::field_error::FieldErrors;

use crate::core::v1::volume::{GoodVolumes, check_descending, steps_back};
use crate::core::v1::{Container, VolumeMount};

const PROPAGATIONS: [&str; 3] = ["Bidirectional", "HostToContainer", "None"];
const READ_ONLY: [&str; 3] = ["Disabled", "Enabled", "IfPossible"];

/// Reports errors in the volume mounts of a container.
pub(super) fn check(container: &Container, volumes: &GoodVolumes<'_>, errors: &mut FieldErrors) {
    let devices = &container.volume_devices;
    // The last of several devices with the same volume counts.
    let devices = devices.iter();
    let devices: BTreeMap<&str, &str> = devices.map(|device| (&*device.name, &*device.device_path)).collect();
    let mut paths = BTreeSet::new();
    for (index, mount) in container.volume_mounts.iter().enumerate() {
        {
            let mut errors = errors.at_index("volumeMounts", index);
            if mount.name.is_empty() {
                errors.required("name", "");
            }
            if volumes.get(mount.name.as_str()).is_none() {
                errors.not_found("name", &mount.name);
            }
            if mount.mount_path.is_empty() {
                errors.required("mountPath", "");
            }
            if !paths.insert(&mount.mount_path) {
                errors.invalid("mountPath", &mount.mount_path, "must be unique");
            }
            if devices.contains_key(mount.name.as_str()) {
                errors.invalid("name", &mount.name, "must not already exist in volumeDevices");
            }
            if devices.values().any(|path| *path == mount.mount_path) {
                let problem = "must not already exist as a path in volumeDevices";
                errors.invalid("mountPath", &mount.mount_path, problem);
            }
        }
        check_part(mount, index, errors);
        check_ways(mount, container, errors);
    }
}

/// Checks the subpath of a mount. Most errors have the path of the list instead of the element, as in kube-apiserver.
fn check_part(mount: &VolumeMount, index: usize, errors: &mut FieldErrors) {
    if !mount.sub_path.is_empty() {
        check_descending("volumeMounts.subPath", &mount.sub_path, errors);
    }
    if mount.sub_path_expr.is_empty() {
        return;
    }
    if !mount.sub_path.is_empty() {
        let problem = "subPathExpr and subPath are mutually exclusive";
        errors
            .at_index("volumeMounts", index)
            .invalid("subPathExpr", &mount.sub_path_expr, problem);
    }
    check_descending("volumeMounts.subPathExpr", &mount.sub_path_expr, errors);
}

/// Checks the mount propagation and the recursive read-only mode.
fn check_ways(mount: &VolumeMount, container: &Container, errors: &mut FieldErrors) {
    let mut errors = errors.at("volumeMounts");
    if let Some(propagation) = mount.mount_propagation.as_deref() {
        if !PROPAGATIONS.contains(&propagation) {
            errors.not_supported("mountPropagation", propagation, &PROPAGATIONS);
        }
        let context = container.security_context.as_ref();
        let privileged = context.and_then(|context| context.privileged) == Some(true);
        if propagation == "Bidirectional" && !privileged {
            let problem = "Bidirectional mount propagation is available only to privileged containers";
            errors.forbidden("mountPropagation", problem);
        }
    }
    match mount.recursive_read_only.as_deref() {
        None | Some("Disabled") => {}
        Some("Enabled" | "IfPossible") => {
            if !mount.read_only {
                errors.forbidden("recursiveReadOnly", "may only be specified when readOnly is true");
            }
            if mount.mount_propagation.as_deref().is_some_and(|way| way != "None") {
                let problem = "may only be specified when mountPropagation is None or not specified";
                errors.forbidden("recursiveReadOnly", problem);
            }
        }
        Some(other) => errors.not_supported("recursiveReadOnly", other, &READ_ONLY),
    }
}

/// Reports errors in the block devices of a container.
pub(super) fn check_devices(container: &Container, volumes: &GoodVolumes<'_>, errors: &mut FieldErrors) {
    let mounts = &container.volume_mounts;
    let mounts: BTreeMap<&str, &str> = mounts.iter().map(|mount| (&*mount.name, &*mount.mount_path)).collect();
    let (mut paths, mut names) = (BTreeSet::new(), BTreeSet::new());
    for (index, device) in container.volume_devices.iter().enumerate() {
        let mut errors = errors.at_index("volumeDevices", index);
        let (name, path) = (device.name.as_str(), device.device_path.as_str());
        if name.is_empty() {
            errors.required("name", "");
        }
        if names.contains(name) {
            errors.invalid("name", name, "must be unique");
        }
        match volumes.get(name) {
            None => errors.not_found("name", name),
            Some(volume) if volume.persistent_volume_claim.is_none() && volume.ephemeral.is_none() => {
                let problem = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                errors.invalid("name", name, problem);
            }
            Some(_) => {}
        }
        if path.is_empty() {
            errors.required("devicePath", "");
        }
        if paths.contains(path) {
            errors.invalid("devicePath", path, "must be unique");
        }
        if steps_back(path) {
            errors.invalid("devicePath", path, "can not contain backsteps ('..')");
        } else {
            paths.insert(path);
        }
        if mounts.contains_key(name) {
            errors.invalid("name", name, "must not already exist in volumeMounts");
        }
        if mounts.values().any(|mounted| *mounted == path) {
            errors.invalid("devicePath", path, "must not already exist as a path in volumeMounts");
        }
        if !name.is_empty() {
            names.insert(name);
        }
    }
}
