//! Checks of the sources of volumes.

use std::collections::BTreeSet;

use planesmith_api_defs::core::v1::VolumeSource;

use super::wording::{named, quoted_set, violation};
use super::{Checked, Violation};

pub(super) fn check_host_paths(pod: Checked<'_>) -> Option<Violation> {
    let volumes = pod
        .spec
        .volumes
        .iter()
        .filter(|volume| volume.volume_source.host_path.is_some());
    let volumes: Vec<&str> = volumes.map(|volume| volume.name.as_str()).collect();
    if volumes.is_empty() {
        return None;
    }
    violation("hostPath volumes", named("volume", "volumes", &volumes))
}

pub(super) fn check_types(pod: Checked<'_>) -> Option<Violation> {
    let volumes = pod.spec.volumes.iter();
    let bad: Vec<(&str, &str)> = volumes
        .filter_map(|volume| Some((volume.name.as_str(), restricted_type(&volume.volume_source)?)))
        .collect();
    if bad.is_empty() {
        return None;
    }
    let names: Vec<&str> = bad.iter().map(|(name, _)| *name).collect();
    let types: BTreeSet<&str> = bad.iter().map(|(_, sort)| *sort).collect();
    let verb = if names.len() == 1 { "uses" } else { "use" };
    let word = match types.len() {
        1 => "restricted volume type",
        _ => "restricted volume types",
    };
    let who = named("volume", "volumes", &names);
    violation(
        "restricted volume types",
        format!("{who} {verb} {word} {}", quoted_set(&types)),
    )
}

/// Returns the type of a volume if the restricted level does not allow it.
fn restricted_type(source: &VolumeSource) -> Option<&'static str> {
    let allowed = [
        source.config_map.is_some(),
        source.csi.is_some(),
        source.downward_api.is_some(),
        source.empty_dir.is_some(),
        source.ephemeral.is_some(),
        source.image.is_some(),
        source.persistent_volume_claim.is_some(),
        source.projected.is_some(),
        source.secret.is_some(),
    ];
    if allowed.contains(&true) {
        return None;
    }
    let others = [
        (source.host_path.is_some(), "hostPath"),
        (source.gce_persistent_disk.is_some(), "gcePersistentDisk"),
        (source.aws_elastic_block_store.is_some(), "awsElasticBlockStore"),
        (source.git_repo.is_some(), "gitRepo"),
        (source.nfs.is_some(), "nfs"),
        (source.iscsi.is_some(), "iscsi"),
        (source.glusterfs.is_some(), "glusterfs"),
        (source.rbd.is_some(), "rbd"),
        (source.flex_volume.is_some(), "flexVolume"),
        (source.cinder.is_some(), "cinder"),
        (source.cephfs.is_some(), "cephfs"),
        (source.flocker.is_some(), "flocker"),
        (source.fc.is_some(), "fc"),
        (source.azure_file.is_some(), "azureFile"),
        (source.vsphere_volume.is_some(), "vsphereVolume"),
        (source.quobyte.is_some(), "quobyte"),
        (source.azure_disk.is_some(), "azureDisk"),
        (source.photon_persistent_disk.is_some(), "photonPersistentDisk"),
        (source.portworx_volume.is_some(), "portworxVolume"),
        (source.scale_io.is_some(), "scaleIO"),
        (source.storageos.is_some(), "storageos"),
    ];
    let found = others.iter().find(|(is, _)| *is).map(|(_, name)| *name);
    Some(found.unwrap_or("unknown"))
}
