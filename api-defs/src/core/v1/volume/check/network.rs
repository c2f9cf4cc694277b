//! Validation of network volumes and of driver volumes.

use std::collections::BTreeMap;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

use super::super::path::check_descending;
use super::cloud::check_driver_name;
use crate::core::v1::{
    CSIVolumeSource, FCVolumeSource, FlexVolumeSource, FlockerVolumeSource, GitRepoVolumeSource, GlusterfsVolumeSource,
    NFSVolumeSource, QuobyteVolumeSource, RBDVolumeSource, ScaleIOVolumeSource, StorageOSVolumeSource,
};

/// Reports empty fields.
fn require(fields: &[(&str, &String)], errors: &mut FieldErrors) {
    for (field, text) in fields {
        if text.is_empty() {
            errors.required(field, "");
        }
    }
}

impl GitRepoVolumeSource {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        require(&[("repository", &self.repository)], errors);
        check_descending("directory", &self.directory, errors);
    }
}

impl NFSVolumeSource {
    /// Reports errors in an NFS volume.
    pub(crate) fn check(&self, errors: &mut FieldErrors) {
        require(&[("server", &self.server), ("path", &self.path)], errors);
        if !self.path.starts_with('/') {
            errors.invalid("path", &self.path, "must be an absolute path");
        }
    }
}

impl GlusterfsVolumeSource {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        require(&[("endpoints", &self.endpoints), ("path", &self.path)], errors);
    }
}

impl RBDVolumeSource {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        if self.monitors.is_empty() {
            errors.required("monitors", "");
        }
        require(&[("image", &self.image)], errors);
    }
}

impl FlockerVolumeSource {
    /// Reports errors in a Flocker volume.
    pub(crate) fn check(&self, errors: &mut FieldErrors) {
        match (self.dataset_name.is_empty(), self.dataset_uuid.is_empty()) {
            (true, true) => errors.required("", "one of datasetName and datasetUUID is required"),
            (false, false) => errors.invalid(
                "",
                "resource",
                "datasetName and datasetUUID can not be specified simultaneously",
            ),
            _ => {}
        }
        if self.dataset_name.contains('/') {
            errors.invalid("datasetName", &self.dataset_name, "must not contain '/'");
        }
    }
}

impl FCVolumeSource {
    /// Reports errors in a Fibre Channel volume.
    pub(crate) fn check(&self, errors: &mut FieldErrors) {
        let names = &self.target_wwns;
        if names.is_empty() && self.wwids.is_empty() {
            errors.required("targetWWNs", "must specify either targetWWNs or wwids, but not both");
        }
        if !names.is_empty() && !self.wwids.is_empty() {
            let problem = "targetWWNs and wwids can not be specified simultaneously";
            errors.invalid("targetWWNs", names.as_slice(), problem);
        }
        if names.is_empty() {
            return;
        }
        match self.lun {
            None => errors.required("lun", "lun is required if targetWWNs is specified"),
            Some(lun) => {
                for problem in names::in_range(lun.into(), 0, 255) {
                    errors.invalid("lun", lun, problem);
                }
            }
        }
    }
}

impl QuobyteVolumeSource {
    /// Reports errors in a Quobyte volume.
    pub(crate) fn check(&self, errors: &mut FieldErrors) {
        const PAIRS: &str = "must be a host:port pair or multiple pairs separated by commas";
        if self.registry.is_empty() {
            errors.required("registry", PAIRS);
        } else if self.tenant.len() >= 65 {
            errors.required("tenant", "must be a UUID and may not exceed a length of 64 characters");
        } else {
            for _ in self.registry.split(',').filter(|pair| !is_host_and_port(pair)) {
                errors.invalid("registry", &self.registry, PAIRS);
            }
        }
        require(&[("volume", &self.volume)], errors);
    }
}

/// True if Go can split the text into host and port: it has one colon, or brackets around a host with several.
fn is_host_and_port(text: &str) -> bool {
    match text.strip_prefix('[') {
        Some(rest) => rest
            .split_once(']')
            .is_some_and(|(host, port)| !host.contains('[') && port.starts_with(':') && !port.contains(['[', ']'])),
        None => text.matches(':').count() == 1 && !text.contains(['[', ']']),
    }
}

impl ScaleIOVolumeSource {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        let fields = [
            ("gateway", &self.gateway),
            ("system", &self.system),
            ("volumeName", &self.volume_name),
        ];
        require(&fields, errors);
    }
}

impl StorageOSVolumeSource {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        require(&[("volumeName", &self.volume_name)], errors);
        let texts = [
            ("volumeName", &self.volume_name),
            ("volumeNamespace", &self.volume_namespace),
        ];
        for (field, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            for problem in names::dns_label(text) {
                errors.invalid(field, text, problem);
            }
        }
        if self.secret_ref.as_ref().is_some_and(|secret| secret.name.is_empty()) {
            errors.required("secretRef.name", "");
        }
    }
}

/// Reports driver options in Kubernetes' own domains.
pub(crate) fn check_driver_options(options: &BTreeMap<String, String>, errors: &mut FieldErrors) {
    for key in options.keys() {
        let domain = key.split_once('/').map_or(key.as_str(), |(domain, _)| domain);
        let domain = format!(".{}", domain.to_lowercase());
        if domain.ends_with(".kubernetes.io") || domain.ends_with(".k8s.io") {
            let problem = "kubernetes.io and k8s.io namespaces are reserved";
            errors.at_key("options", key).invalid("", key, problem);
        }
    }
}

impl FlexVolumeSource {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        require(&[("driver", &self.driver)], errors);
        check_driver_options(&self.options, errors);
    }
}

impl CSIVolumeSource {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        check_driver_name("driver", &self.driver, errors);
        let Some(secret) = &self.node_publish_secret_ref else {
            return;
        };
        if secret.name.is_empty() {
            errors.required("nodePublishSecretRef.name", "");
            return;
        }
        for problem in names::dns_subdomain(&secret.name) {
            errors.invalid("name", &secret.name, problem);
        }
    }
}
