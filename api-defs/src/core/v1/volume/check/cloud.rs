//! Validation of cloud disks.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

use crate::core::v1::{
    AWSElasticBlockStoreVolumeSource, AzureDiskVolumeSource, AzureFileVolumeSource, CinderVolumeSource,
    GCEPersistentDiskVolumeSource, PhotonPersistentDiskVolumeSource, VsphereVirtualDiskVolumeSource,
};

const CACHING: [&str; 3] = ["None", "ReadOnly", "ReadWrite"];
const DISK_KINDS: [&str; 3] = ["Dedicated", "Managed", "Shared"];

/// Reports an illegal partition number.
fn check_partition(partition: i32, errors: &mut FieldErrors) {
    if !(0..=255).contains(&partition) {
        errors.invalid("partition", partition, "must be between 1 and 255, inclusive");
    }
}

impl GCEPersistentDiskVolumeSource {
    /// Reports errors in a disk of Google Compute Engine.
    pub(crate) fn check(&self, errors: &mut FieldErrors) {
        if self.pd_name.is_empty() {
            errors.required("pdName", "");
        }
        check_partition(self.partition, errors);
    }
}

impl AWSElasticBlockStoreVolumeSource {
    /// Reports errors in a disk of Amazon Elastic Block Store.
    pub(crate) fn check(&self, errors: &mut FieldErrors) {
        if self.volume_id.is_empty() {
            errors.required("volumeID", "");
        }
        check_partition(self.partition, errors);
    }
}

impl AzureFileVolumeSource {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        for (field, text) in [("secretName", &self.secret_name), ("shareName", &self.share_name)] {
            if text.is_empty() {
                errors.required(field, "");
            }
        }
    }
}

impl AzureDiskVolumeSource {
    /// Reports errors in an Azure disk.
    pub(crate) fn check(&self, errors: &mut FieldErrors) {
        const MANAGED: &str =
            "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
        const BLOB: &str = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";
        if self.disk_name.is_empty() {
            errors.required("diskName", "");
        }
        if self.disk_uri.is_empty() {
            errors.required("diskURI", "");
        }
        for (field, value, known) in [
            ("cachingMode", &self.caching_mode, &CACHING),
            ("kind", &self.kind, &DISK_KINDS),
        ] {
            if let Some(value) = value.as_deref()
                && !known.contains(&value)
            {
                errors.not_supported(field, value, known);
            }
        }
        let uri = self.disk_uri.as_str();
        match self.kind.as_deref() {
            Some("Managed") if !uri.starts_with("/subscriptions/") => errors.not_supported("diskURI", uri, &[MANAGED]),
            Some(kind) if kind != "Managed" && !uri.starts_with("https://") => {
                errors.not_supported("diskURI", uri, &[BLOB]);
            }
            _ => {}
        }
    }
}

impl CinderVolumeSource {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        if self.volume_id.is_empty() {
            errors.required("volumeID", "");
        }
        if self.secret_ref.as_ref().is_some_and(|secret| secret.name.is_empty()) {
            errors.required("secretRef.name", "");
        }
    }
}

impl VsphereVirtualDiskVolumeSource {
    /// Reports errors in a vSphere disk.
    pub(crate) fn check(&self, errors: &mut FieldErrors) {
        if self.volume_path.is_empty() {
            errors.required("volumePath", "");
        }
    }
}

impl PhotonPersistentDiskVolumeSource {
    /// Reports errors in a Photon disk.
    pub(crate) fn check(&self, errors: &mut FieldErrors) {
        if self.pd_id.is_empty() {
            errors.required("pdID", "");
        }
    }
}

/// Reports errors in the name of a volume driver.
pub(crate) fn check_driver_name(field: &str, name: &str, errors: &mut FieldErrors) {
    if name.is_empty() {
        return errors.required(field, "");
    }
    if name.len() > 63 {
        errors.too_long(field, 63);
    }
    for problem in names::dns_subdomain(&name.to_lowercase()) {
        errors.invalid(field, name, problem);
    }
}
