//! Validation of a pod's volumes.

mod cloud;
mod config;
mod iscsi;
mod network;
mod projected;

use std::collections::{BTreeMap, BTreeSet};

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

use super::path::check_no_steps_back;
use super::{EphemeralVolumeSource, HostPathVolumeSource, ImageVolumeSource, Volume, VolumeSource};
use crate::core::v1::container::check_pull_policy;
use crate::core::v1::one_of::OneOf;
use crate::core::v1::pod::PodOptions;

pub(crate) use cloud::check_driver_name;
pub(crate) use iscsi::check_iscsi_name;
pub(crate) use network::check_driver_options;

const HOST_PATH_TYPES: [&str; 8] = [
    "",
    "DirectoryOrCreate",
    "Directory",
    "FileOrCreate",
    "File",
    "Socket",
    "CharDevice",
    "BlockDevice",
];

/// Valid volumes of a pod by name.
pub(crate) type GoodVolumes<'a> = BTreeMap<&'a str, &'a VolumeSource>;

/// Reports errors in the volumes of the pod `pod`, whose name is empty in a template, and returns the valid volumes.
pub(crate) fn check_volumes<'a>(
    volumes: &'a [Volume],
    pod: &str,
    options: PodOptions,
    errors: &mut FieldErrors,
) -> GoodVolumes<'a> {
    let made_claims: BTreeSet<String> = volumes
        .iter()
        .filter(|volume| !pod.is_empty() && volume.volume_source.ephemeral.is_some())
        .map(|volume| format!("{pod}-{}", volume.name))
        .collect();
    let mut good = GoodVolumes::new();
    for (index, volume) in volumes.iter().enumerate() {
        let mut errors = errors.at_index("volumes", index);
        let before = errors.count();
        let (name, source) = (volume.name.as_str(), &volume.volume_source);
        source.check(name, pod, options, &mut errors);
        if name.is_empty() {
            errors.required("name", "");
        } else {
            for problem in names::dns_label(name) {
                errors.invalid("name", name, problem);
            }
        }
        if good.contains_key(name) {
            errors.duplicate("name", name);
        }
        if errors.count() == before {
            good.insert(name, source);
        }
        if let Some(claim) = &source.persistent_volume_claim
            && made_claims.contains(&claim.claim_name)
        {
            let problem = "must not reference a PVC that gets created for an ephemeral volume";
            errors.invalid("persistentVolumeClaim.claimName", &claim.claim_name, problem);
        }
    }
    good
}

impl VolumeSource {
    fn check(&self, volume: &str, pod: &str, options: PodOptions, errors: &mut FieldErrors) {
        let one = &mut OneOf::or("may not specify more than 1 volume type");
        one.count(self.empty_dir.as_ref());
        if let Some(limit) = self.empty_dir.as_ref().and_then(|dir| dir.size_limit.as_ref())
            && limit.is_negative()
        {
            errors.forbidden(
                "emptyDir.sizeLimit",
                "SizeLimit field must be a valid resource quantity",
            );
        }
        one.member("hostPath", self.host_path.as_ref(), errors, HostPathVolumeSource::check);
        self.check_first_half(volume, one, errors);
        self.check_second_half(options, one, errors);
        let is_alone = !one.found();
        one.member("ephemeral", self.ephemeral.as_ref(), errors, |source, errors| {
            source.check(errors);
        });
        if is_alone && self.ephemeral.is_some() && !pod.is_empty() && !volume.is_empty() {
            let claim = format!("{pod}-{volume}");
            for problem in names::dns_subdomain(&claim) {
                errors.invalid("name", volume, format!("PVC name \"{claim}\": {problem}"));
            }
        }
        one.member("image", self.image.as_ref(), errors, |source, errors| {
            source.check(options, errors);
        });
        if !one.found() {
            errors.required("", "must specify a volume type");
        }
    }

    fn check_first_half(&self, volume: &str, one: &mut OneOf, errors: &mut FieldErrors) {
        one.member("gitRepo", self.git_repo.as_ref(), errors, |source, errors| {
            source.check(errors);
        });
        let disk = ("gcePersistentDisk", "persistentDisk");
        one.member_called(disk, self.gce_persistent_disk.as_ref(), errors, |source, errors| {
            source.check(errors);
        });
        let store = self.aws_elastic_block_store.as_ref();
        one.member("awsElasticBlockStore", store, errors, |source, errors| {
            source.check(errors)
        });
        one.member("secret", self.secret.as_ref(), errors, |source, errors| {
            source.check(errors);
        });
        one.member("nfs", self.nfs.as_ref(), errors, |source, errors| source.check(errors));
        one.member("iscsi", self.iscsi.as_ref(), errors, |source, errors| {
            source.check(errors);
        });
        if let Some(iscsi) = &self.iscsi
            && iscsi.initiator_name.is_some()
            && volume.len() + 1 + iscsi.target_portal.len() > 64
        {
            let problem = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if \
                           iscsi.initiatorName is specified.";
            errors.invalid("name", volume, problem);
        }
        one.member("glusterfs", self.glusterfs.as_ref(), errors, |source, errors| {
            source.check(errors);
        });
        one.member("flocker", self.flocker.as_ref(), errors, |source, errors| {
            source.check(errors);
        });
        let claim = self.persistent_volume_claim.as_ref();
        one.member("persistentVolumeClaim", claim, errors, |source, errors| {
            if source.claim_name.is_empty() {
                errors.required("claimName", "");
            }
        });
        one.member("rbd", self.rbd.as_ref(), errors, |source, errors| source.check(errors));
        one.member("cinder", self.cinder.as_ref(), errors, |source, errors| {
            source.check(errors);
        });
        let names = ("cephFS", "cephfs");
        one.member_called(names, self.cephfs.as_ref(), errors, |source, errors| {
            if source.monitors.is_empty() {
                errors.required("monitors", "");
            }
        });
        one.member("quobyte", self.quobyte.as_ref(), errors, |source, errors| {
            source.check(errors);
        });
    }

    fn check_second_half(&self, options: PodOptions, one: &mut OneOf, errors: &mut FieldErrors) {
        // The first name has the spelling error of kube-apiserver.
        let names = ("downwarAPI", "downwardAPI");
        one.member_called(names, self.downward_api.as_ref(), errors, |source, errors| {
            source.check(errors);
        });
        one.member("fc", self.fc.as_ref(), errors, |source, errors| source.check(errors));
        one.member("flexVolume", self.flex_volume.as_ref(), errors, |source, errors| {
            source.check(errors);
        });
        one.member("configMap", self.config_map.as_ref(), errors, |source, errors| {
            source.check(errors);
        });
        one.member("azureFile", self.azure_file.as_ref(), errors, |source, errors| {
            source.check(errors);
        });
        one.member(
            "vsphereVolume",
            self.vsphere_volume.as_ref(),
            errors,
            |source, errors| {
                source.check(errors);
            },
        );
        let photon = self.photon_persistent_disk.as_ref();
        one.member("photonPersistentDisk", photon, errors, |source, errors| {
            source.check(errors)
        });
        let portworx = self.portworx_volume.as_ref();
        one.member("portworxVolume", portworx, errors, |source, errors| {
            if source.volume_id.is_empty() {
                errors.required("volumeID", "");
            }
        });
        one.member("azureDisk", self.azure_disk.as_ref(), errors, |source, errors| {
            source.check(errors);
        });
        one.member("storageos", self.storageos.as_ref(), errors, |source, errors| {
            source.check(errors);
        });
        one.member("projected", self.projected.as_ref(), errors, |source, errors| {
            source.check(options, errors);
        });
        one.member("scaleIO", self.scale_io.as_ref(), errors, |source, errors| {
            source.check(errors);
        });
        one.member("csi", self.csi.as_ref(), errors, |source, errors| source.check(errors));
    }
}

impl HostPathVolumeSource {
    /// Reports errors in a file or directory of the node.
    pub(crate) fn check(&self, errors: &mut FieldErrors) {
        if self.path.is_empty() {
            errors.required("path", "");
            return;
        }
        check_no_steps_back("path", &self.path, errors);
        if let Some(type_) = self.type_.as_deref()
            && !HOST_PATH_TYPES.contains(&type_)
        {
            errors.not_supported("type", type_, &HOST_PATH_TYPES);
        }
    }
}

impl EphemeralVolumeSource {
    fn check(&self, errors: &mut FieldErrors) {
        match &self.volume_claim_template {
            None => errors.required("volumeClaimTemplate", ""),
            Some(template) => template.check(&mut errors.at("volumeClaimTemplate")),
        }
    }
}

impl ImageVolumeSource {
    fn check(&self, options: PodOptions, errors: &mut FieldErrors) {
        if options.of_pod && self.reference.is_empty() {
            errors.required("reference", "");
        }
        check_pull_policy("pullPolicy", &self.pull_policy, errors);
    }
}
