//! Validation of projected volumes.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::validation::{SelectorValues, check_label_selector};

use super::super::path::{check_mode, check_unreserved};
use crate::certificates::v1beta1::{expiration_bounds, name_complaints};
use crate::certificates::{signer_name, user_annotations};
use crate::core::v1::pod::PodOptions;
use crate::core::v1::{
    ClusterTrustBundleProjection, KeyToPath, PodCertificateProjection, ProjectedVolumeSource,
    ServiceAccountTokenProjection, VolumeProjection,
};

/// Error text of two files at the same path.
const CONFLICT: &str = "conflicting duplicate paths";

/// Legal key types of pod certificates.
const KEY_TYPES: [&str; 6] = ["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"];

/// Minimum lifetime of a token in seconds.
const MIN_LIFETIME: i64 = 10 * 60;

/// Maximum lifetime of a token in seconds.
const MAX_LIFETIME: i64 = 1 << 32;

impl ProjectedVolumeSource {
    pub(super) fn check(&self, options: PodOptions, errors: &mut FieldErrors) {
        check_mode("defaultMode", self.default_mode, errors);
        let mut paths = BTreeSet::new();
        for (index, source) in self.sources.iter().enumerate() {
            source.check(index, options, &mut paths, errors);
        }
    }
}

impl VolumeProjection {
    /// Reports errors in the source at `index`. As in kube-apiserver, some errors have the path of the volume.
    fn check<'a>(&'a self, index: usize, options: PodOptions, paths: &mut BTreeSet<&'a str>, errors: &mut FieldErrors) {
        if let Some(secret) = &self.secret {
            let name = &secret.local_object_reference.name;
            check_keys(index, "secret", name, &secret.items, paths, errors);
        }
        if let Some(map) = &self.config_map {
            let name = &map.local_object_reference.name;
            check_keys(index, "configMap", name, &map.items, paths, errors);
        }
        for file in self.downward_api.iter().flat_map(|source| &source.items) {
            file.check(&mut errors.at_index("sources", index).at("downwardAPI"));
            if !file.path.is_empty() && !paths.insert(&file.path) {
                errors.invalid("", &file.path, CONFLICT);
            }
        }
        if let Some(token) = &self.service_account_token {
            token.check(index, options, errors);
        }
        if let Some(bundle) = &self.cluster_trust_bundle {
            bundle.check(&mut errors.at_index("sources", index).at("clusterTrustBundle"));
            if !paths.insert(&bundle.path) {
                errors.invalid("", &bundle.path, CONFLICT);
            }
        }
        if let Some(certificate) = &self.pod_certificate {
            certificate.check(index, paths, errors);
        }
        let given = [
            self.secret.is_some(),
            self.config_map.is_some(),
            self.downward_api.is_some(),
            self.service_account_token.is_some(),
            self.cluster_trust_bundle.is_some(),
            self.pod_certificate.is_some(),
        ];
        if given.iter().filter(|given| **given).count() > 1 {
            errors
                .at_index("sources", index)
                .forbidden("", "may not specify more than 1 volume type per source");
        }
    }
}

fn check_keys<'a>(
    index: usize,
    field: &str,
    name: &str,
    items: &'a [KeyToPath],
    paths: &mut BTreeSet<&'a str>,
    errors: &mut FieldErrors,
) {
    if name.is_empty() {
        errors.at_index("sources", index).at(field).required("name", "");
    }
    for (position, item) in items.iter().enumerate() {
        item.check(&mut errors.at_index("sources", index).at(field).at_index("items", position));
        if !item.path.is_empty() && !paths.insert(&item.path) {
            errors.invalid("", name, CONFLICT);
        }
    }
}

impl ServiceAccountTokenProjection {
    fn check(&self, index: usize, options: PodOptions, errors: &mut FieldErrors) {
        let seconds = self.expiration_seconds.unwrap_or_default();
        let problem = match seconds {
            ..MIN_LIFETIME => Some("may not specify a duration less than 10 minutes"),
            MIN_LIFETIME..=MAX_LIFETIME => None,
            _ => Some("may not specify a duration larger than 2^32 seconds"),
        };
        if let Some(problem) = problem {
            errors
                .at_index("sources", index)
                .at("serviceAccountToken")
                .invalid("expirationSeconds", seconds, problem);
        }
        if self.path.is_empty() {
            errors.required("path", "");
        } else if !options.any_token_path {
            check_unreserved("path", &self.path, errors);
        }
    }
}

impl ClusterTrustBundleProjection {
    fn check(&self, errors: &mut FieldErrors) {
        match (&self.name, &self.signer_name) {
            (Some(_), Some(_)) => {
                errors.invalid("", GoValue(self), "only one of name and signerName may be used");
            }
            (Some(name), None) => {
                if name.is_empty() {
                    errors.required("name", "must be a valid object name");
                }
                let signer = name.rsplit_once(':').map(|(signer, _)| signer.replace(':', "/"));
                for problem in name_complaints(name, &signer.unwrap_or_default()) {
                    errors.invalid("name", name, format!("not a valid clustertrustbundlename: {problem}"));
                }
                if let Some(selector) = &self.label_selector {
                    let problem = "labelSelector must be unset if name is specified";
                    errors.invalid(
                        "labelSelector",
                        selector as &dyn planesmith_machinery::value::Value,
                        problem,
                    );
                }
            }
            (None, Some(signer)) => {
                if signer.is_empty() {
                    errors.required("signerName", "must be a valid signer name");
                }
                signer_name::check("signerName", signer, errors);
                if let Some(selector) = &self.label_selector {
                    check_label_selector(selector, SelectorValues::Legal, &mut errors.at("labelSelector"));
                }
            }
            (None, None) => errors.required("", "either name or signerName must be specified"),
        }
        if self.path.is_empty() {
            errors.required("path", "");
        }
        check_unreserved("path", &self.path, errors);
    }
}

impl PodCertificateProjection {
    /// Reports errors in the source at `index`. As in kube-apiserver, a conflicting path has the path of the volume.
    fn check<'a>(&'a self, index: usize, paths: &mut BTreeSet<&'a str>, errors: &mut FieldErrors) {
        self.check_request(&mut errors.at_index("sources", index).at("podCertificate"));
        let given = [
            ("credentialBundlePath", self.credential_bundle_path.as_str()),
            ("keyPath", &self.key_path),
            ("certificateChainPath", &self.certificate_chain_path),
        ];
        for (field, path) in given.into_iter().filter(|(_, path)| !path.is_empty()) {
            check_unreserved(field, path, &mut errors.at_index("sources", index).at("podCertificate"));
            if !paths.insert(path) {
                errors.invalid("", path, CONFLICT);
            }
        }
        if given.iter().all(|(_, path)| path.is_empty()) {
            let problem = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath";
            errors.at_index("sources", index).required("podCertificate", problem);
        }
    }

    fn check_request(&self, errors: &mut FieldErrors) {
        signer_name::check("signerName", &self.signer_name, errors);
        user_annotations::check("userAnnotations", &self.user_annotations, errors);
        if !KEY_TYPES.contains(&self.key_type.as_str()) {
            errors.not_supported_in_order("keyType", &self.key_type, &KEY_TYPES);
        }
        let (least, most) = expiration_bounds(&self.signer_name);
        if let Some(seconds) = self.max_expiration_seconds {
            if seconds < least {
                let problem = format!("if provided, maxExpirationSeconds must be >= {least}");
                errors.invalid("maxExpirationSeconds", seconds, problem);
            }
            if seconds > most {
                let problem = format!("if provided, maxExpirationSeconds must be <= {most}");
                errors.invalid("maxExpirationSeconds", seconds, problem);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn complaints(sources: &Value) -> Vec<String> {
        let volume: ProjectedVolumeSource = serde_json::from_value(json!({"sources": sources})).unwrap();
        let mut errors = FieldErrors::default();
        volume.check(PodOptions::default(), &mut errors);
        errors.as_slice().iter().map(|error| error.message()).collect()
    }

    #[test]
    fn certificates_are_asked_for_in_full() {
        let legal = json!({"podCertificate": {
            "signerName": "example.com/s", "keyType": "ED25519", "credentialBundlePath": "b", "maxExpirationSeconds": 7_862_400,
        }});
        assert_eq!(complaints(&json!([legal])), Vec::<String>::new());
        let wrong = json!([legal, {"podCertificate": {
            "signerName": "kubernetes.io/s", "keyType": "RSA", "userAnnotations": {"k": "v"},
            "maxExpirationSeconds": 86401, "keyPath": "/k", "certificateChainPath": "b",
        }}, {"podCertificate": {"signerName": "example.com/s", "keyType": "ED25519", "maxExpirationSeconds": 1}}]);
        assert_eq!(
            complaints(&wrong),
            [
                "sources[1].podCertificate.userAnnotations: Invalid value: \"k\": must be a domain-prefixed key (such as \"acme.io/foo\")",
                "sources[1].podCertificate.keyType: Unsupported value: \"RSA\": supported values: \"RSA3072\", \"RSA4096\", \"ECDSAP256\", \"ECDSAP384\", \"ECDSAP521\", \"ED25519\"",
                "sources[1].podCertificate.maxExpirationSeconds: Invalid value: 86401: if provided, maxExpirationSeconds must be <= 86400",
                "sources[1].podCertificate.keyPath: Invalid value: \"/k\": must be a relative path",
                ": Invalid value: \"b\": conflicting duplicate paths",
                "sources[2].podCertificate.maxExpirationSeconds: Invalid value: 1: if provided, maxExpirationSeconds must be >= 3600",
                "sources[2].podCertificate: Required value: specify at least one of credentialBundlePath, keyPath, and certificateChainPath",
            ]
        );
    }

    #[test]
    fn bundles_are_named_as_their_signers_are() {
        let bundle = |members: Value| {
            let mut bundle = json!({"path": "p"});
            bundle
                .as_object_mut()
                .unwrap()
                .extend(members.as_object().unwrap().clone());
            complaints(&json!([{"clusterTrustBundle": bundle}]))
        };
        assert_eq!(bundle(json!({"name": "example.com:s:one"})), Vec::<String>::new());
        assert_eq!(bundle(json!({"signerName": "example.com/s"})), Vec::<String>::new());
        assert_eq!(
            bundle(json!({"signerName": "s"})),
            [
                "sources[0].clusterTrustBundle.signerName: Invalid value: \"s\": must be a fully qualified domain and path of the form 'example.com/signer-name'"
            ]
        );
    }
}
