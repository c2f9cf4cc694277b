//! Validation of volume sources.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

use super::driver_source::{
    AzureFilePersistentVolumeSource, CSIPersistentVolumeSource, CephFSPersistentVolumeSource,
    CinderPersistentVolumeSource, FlexPersistentVolumeSource, GlusterfsPersistentVolumeSource,
    ISCSIPersistentVolumeSource, LocalVolumeSource, RBDPersistentVolumeSource, ScaleIOPersistentVolumeSource,
    StorageOSPersistentVolumeSource,
};
use super::source::PersistentVolumeSource;
use crate::core::v1::one_of::OneOf;
use crate::core::v1::volume::{check_driver_options, check_iscsi_name, check_no_steps_back};
use crate::core::v1::{HostPathVolumeSource, SecretReference, check_driver_name};

impl PersistentVolumeSource {
    /// Sets the defaults.
    pub(super) fn set_defaults(&mut self) {
        if let Some(path) = &mut self.host_path {
            path.type_.get_or_insert_default();
        }
        if let Some(disk) = &mut self.azure_disk {
            disk.caching_mode.get_or_insert_with(|| "ReadWrite".to_owned());
            disk.kind.get_or_insert_with(|| "Shared".to_owned());
            disk.fs_type.get_or_insert_with(|| "ext4".to_owned());
            disk.read_only.get_or_insert(false);
        }
    }

    /// Returns the source for the comparison with `old`, without a newly added secret for resizing, which is a legal
    /// change.
    pub(super) fn without_new_expand_secret(&self, old: &Self) -> Self {
        let mut source = self.clone();
        if let (Some(new), Some(old)) = (&mut source.csi, &old.csi)
            && old.controller_expand_secret_ref.is_none()
        {
            new.controller_expand_secret_ref = None;
        }
        source
    }

    /// Reports errors in the source of the volume `name`, and if not exactly one source is set.
    pub(super) fn check(&self, name: &str, has_affinity: bool, errors: &mut FieldErrors) {
        let one = &mut OneOf::or("may not specify more than 1 volume type");
        one.member("hostPath", self.host_path.as_ref(), errors, HostPathVolumeSource::check);
        let disk = ("gcePersistentDisk", "persistentDisk");
        one.member_called(disk, self.gce_persistent_disk.as_ref(), errors, |source, errors| {
            source.check(errors);
        });
        let store = self.aws_elastic_block_store.as_ref();
        one.member("awsElasticBlockStore", store, errors, |source, errors| {
            source.check(errors)
        });
        one.member(
            "glusterfs",
            self.glusterfs.as_ref(),
            errors,
            GlusterfsPersistentVolumeSource::check,
        );
        one.member("flocker", self.flocker.as_ref(), errors, |source, errors| {
            source.check(errors)
        });
        one.member("nfs", self.nfs.as_ref(), errors, |source, errors| source.check(errors));
        one.member("rbd", self.rbd.as_ref(), errors, RBDPersistentVolumeSource::check);
        one.member("quobyte", self.quobyte.as_ref(), errors, |source, errors| {
            source.check(errors)
        });
        let ceph = ("cephFS", "cephfs");
        one.member_called(ceph, self.cephfs.as_ref(), errors, CephFSPersistentVolumeSource::check);
        one.member("iscsi", self.iscsi.as_ref(), errors, |source, errors| {
            source.check(name, errors)
        });
        one.member(
            "cinder",
            self.cinder.as_ref(),
            errors,
            CinderPersistentVolumeSource::check,
        );
        one.member("fc", self.fc.as_ref(), errors, |source, errors| source.check(errors));
        if let Some(flex) = &self.flex_volume {
            one.count(Some(flex));
            flex.check(&mut errors.at("flexVolume"));
        }
        self.check_second_half(one, has_affinity, errors);
        if !one.found() {
            errors.required("", "must specify a volume type");
        }
    }

    fn check_second_half(&self, one: &mut OneOf, has_affinity: bool, errors: &mut FieldErrors) {
        one.member(
            "azureFile",
            self.azure_file.as_ref(),
            errors,
            AzureFilePersistentVolumeSource::check,
        );
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
        one.member(
            "portworxVolume",
            self.portworx_volume.as_ref(),
            errors,
            |source, errors| {
                require(&[("volumeID", &source.volume_id)], errors);
            },
        );
        one.member("azureDisk", self.azure_disk.as_ref(), errors, |source, errors| {
            source.check(errors)
        });
        one.member(
            "scaleIO",
            self.scale_io.as_ref(),
            errors,
            ScaleIOPersistentVolumeSource::check,
        );
        let first = !one.found();
        one.member("local", self.local.as_ref(), errors, LocalVolumeSource::check);
        if first && self.local.is_some() && !has_affinity {
            errors.required("nodeAffinity", "Local volume requires node affinity");
        }
        one.member(
            "storageos",
            self.storageos.as_ref(),
            errors,
            StorageOSPersistentVolumeSource::check,
        );
        one.member("csi", self.csi.as_ref(), errors, CSIPersistentVolumeSource::check);
    }
}

/// Reports empty fields.
fn require(fields: &[(&str, &String)], errors: &mut FieldErrors) {
    for (field, value) in fields {
        if value.is_empty() {
            errors.required(field, "");
        }
    }
}

/// Reports missing fields of the secret at `secretRef`.
fn check_named_secret(secret: Option<&SecretReference>, errors: &mut FieldErrors) {
    if let Some(secret) = secret {
        let parts = [("name", &secret.name), ("namespace", &secret.namespace)];
        require(&parts, &mut errors.at("secretRef"));
    }
}

/// Reports errors in the secret at `field`, which needs a name and a namespace.
fn check_secret(field: &str, secret: Option<&SecretReference>, errors: &mut FieldErrors) {
    let Some(secret) = secret else { return };
    let errors = &mut *errors.at(field);
    let parts = [
        (
            "name",
            &secret.name,
            names::dns_subdomain as fn(&str) -> names::Complaints,
        ),
        ("namespace", &secret.namespace, names::dns_label),
    ];
    for (field, value, problems) in parts {
        if value.is_empty() {
            errors.required(field, "");
            continue;
        }
        for problem in problems(value) {
            errors.invalid(field, value, problem);
        }
    }
}

impl GlusterfsPersistentVolumeSource {
    fn check(&self, errors: &mut FieldErrors) {
        require(&[("endpoints", &self.endpoints), ("path", &self.path)], errors);
        if let Some(namespace) = &self.endpoints_namespace {
            if namespace.is_empty() {
                let detail = "if the endpointnamespace is set, it must be a valid namespace name";
                return errors.invalid("endpointsNamespace", namespace, detail);
            }
            for problem in names::dns_label(namespace) {
                errors.invalid("endpointsNamespace", namespace, problem);
            }
        }
    }
}

impl RBDPersistentVolumeSource {
    fn check(&self, errors: &mut FieldErrors) {
        if self.monitors.is_empty() {
            errors.required("monitors", "");
        }
        require(&[("image", &self.image)], errors);
    }
}

impl CephFSPersistentVolumeSource {
    fn check(&self, errors: &mut FieldErrors) {
        if self.monitors.is_empty() {
            errors.required("monitors", "");
        }
    }
}

impl CinderPersistentVolumeSource {
    fn check(&self, errors: &mut FieldErrors) {
        require(&[("volumeID", &self.volume_id)], errors);
        check_named_secret(self.secret_ref.as_ref(), errors);
    }
}

impl ISCSIPersistentVolumeSource {
    fn check(&self, volume: &str, errors: &mut FieldErrors) {
        const UNKNOWN: &str = "must be valid format";
        /// Maximum total length of name and portal if an initiator name is set, in bytes.
        const MAX_NAMES: usize = 64;
        require(&[("targetPortal", &self.target_portal)], errors);
        if self.initiator_name.is_some() && volume.len() + 1 + self.target_portal.len() > MAX_NAMES {
            let detail = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if \
                          iscsi.initiatorName is specified.";
            errors.invalid("targetportal", &self.target_portal, detail);
        }
        match self.iqn.as_str() {
            "" => errors.required("iqn", ""),
            iqn => check_iscsi_name("iqn", iqn, UNKNOWN, errors),
        }
        for problem in names::in_range(self.lun.into(), 0, 255) {
            errors.invalid("lun", self.lun, problem);
        }
        if (self.chap_auth_discovery || self.chap_auth_session) && self.secret_ref.is_none() {
            errors.required("secretRef", "");
        }
        if let Some(secret) = &self.secret_ref
            && secret.name.is_empty()
        {
            errors.required("secretRef.name", "");
        }
        if let Some(initiator) = &self.initiator_name {
            check_iscsi_name("initiatorname", initiator, UNKNOWN, errors);
        }
    }
}

impl FlexPersistentVolumeSource {
    fn check(&self, errors: &mut FieldErrors) {
        require(&[("driver", &self.driver)], errors);
        check_driver_options(&self.options, errors);
    }
}

impl AzureFilePersistentVolumeSource {
    fn check(&self, errors: &mut FieldErrors) {
        require(
            &[("secretName", &self.secret_name), ("shareName", &self.share_name)],
            errors,
        );
        if self.secret_namespace.as_deref() == Some("") {
            errors.required("secretNamespace", "");
        }
    }
}

impl ScaleIOPersistentVolumeSource {
    fn check(&self, errors: &mut FieldErrors) {
        let fields = [
            ("gateway", &self.gateway),
            ("system", &self.system),
            ("volumeName", &self.volume_name),
        ];
        require(&fields, errors);
    }
}

impl LocalVolumeSource {
    fn check(&self, errors: &mut FieldErrors) {
        if self.path.is_empty() {
            return errors.required("path", "");
        }
        check_no_steps_back("path", &self.path, errors);
    }
}

impl StorageOSPersistentVolumeSource {
    fn check(&self, errors: &mut FieldErrors) {
        if self.volume_name.is_empty() {
            errors.required("volumeName", "");
        } else {
            for problem in names::dns_label(&self.volume_name) {
                errors.invalid("volumeName", &self.volume_name, problem);
            }
        }
        if !self.volume_namespace.is_empty() {
            for problem in names::dns_label(&self.volume_namespace) {
                errors.invalid("volumeNamespace", &self.volume_namespace, problem);
            }
        }
        if let Some(secret) = &self.secret_ref {
            let parts = [("name", &secret.name), ("namespace", &secret.namespace)];
            require(&parts, &mut errors.at("secretRef"));
        }
    }
}

impl CSIPersistentVolumeSource {
    fn check(&self, errors: &mut FieldErrors) {
        check_driver_name("driver", &self.driver, errors);
        require(&[("volumeHandle", &self.volume_handle)], errors);
        let secrets = [
            ("controllerPublishSecretRef", &self.controller_publish_secret_ref),
            ("controllerExpandSecretRef", &self.controller_expand_secret_ref),
            ("nodePublishSecretRef", &self.node_publish_secret_ref),
            ("nodeExpandSecretRef", &self.node_expand_secret_ref),
        ];
        for (field, secret) in secrets {
            check_secret(field, secret.as_ref(), errors);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_iscsi_names_is_reported_before_the_iqn() {
        let source = ISCSIPersistentVolumeSource {
            target_portal: "p".repeat(64),
            iqn: "bad".to_owned(),
            initiator_name: Some("bad".to_owned()),
            ..ISCSIPersistentVolumeSource::default()
        };
        let mut errors = FieldErrors::default();
        source.check("v", &mut errors);
        let fields = errors.as_slice().iter().map(|error| error.field.as_str());
        assert_eq!(fields.collect::<Vec<_>>(), ["targetportal", "iqn", "initiatorname"]);
    }
}
