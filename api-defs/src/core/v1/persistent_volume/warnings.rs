//! Warnings about persistent volumes.

use super::PersistentVolume;
use crate::core::v1::of_node_selector_term;
use crate::core::v1::storage_class_name::BETA_CLASS;

/// Annotation with mount options from before the field existed.
const BETA_MOUNT_OPTIONS: &str = "volume.beta.kubernetes.io/mount-options";

pub(super) fn of(volume: &PersistentVolume) -> Vec<String> {
    let mut warnings = Vec::new();
    let annotations = &volume.metadata.annotations;
    let fields = [
        (BETA_CLASS, "v1.8", "use \"storageClassName\" attribute instead"),
        (BETA_MOUNT_OPTIONS, "v1.31", "use \"mountOptions\" attribute instead"),
    ];
    for (annotation, since, instead) in fields {
        if annotations.contains_key(annotation) {
            warnings.push(format!(
                "metadata.annotations[{annotation}]: deprecated since {since}; {instead}"
            ));
        }
    }
    let spec = &volume.spec;
    if spec.persistent_volume_reclaim_policy == "Recycle" {
        warnings.push(
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended \
             approach is to use dynamic provisioning."
                .to_owned(),
        );
    }
    let affinity = spec.node_affinity.as_ref();
    let terms = affinity.and_then(|affinity| affinity.required.as_ref()).into_iter();
    for (index, term) in terms.flat_map(|required| &required.node_selector_terms).enumerate() {
        let path = format!("spec.nodeAffinity.required.nodeSelectorTerms[{index}]");
        warnings.extend(of_node_selector_term(term, false, &path));
    }
    let source = &spec.persistent_volume_source;
    let gone = [
        (source.cephfs.is_some(), "cephfs", "v1.28", "v1.31"),
        (
            source.photon_persistent_disk.is_some(),
            "photonPersistentDisk",
            "v1.11",
            "v1.16",
        ),
        (source.scale_io.is_some(), "scaleIO", "v1.16", "v1.22"),
        (source.storageos.is_some(), "storageOS", "v1.22", "v1.25"),
        (source.glusterfs.is_some(), "glusterfs", "v1.25", "v1.26"),
        (source.rbd.is_some(), "rbd", "v1.28", "v1.31"),
    ];
    for (_, field, deprecated, removed) in gone.into_iter().filter(|(given, ..)| *given) {
        warnings.push(format!(
            "spec.{field}: deprecated in {deprecated}, non-functional in {removed}+"
        ));
    }
    warnings
}
