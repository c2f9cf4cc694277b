//! What is wrong with volumes that combine several sources.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::names;
use planesmith_machinery::validation::{SelectorValues, check_label_selector};

use super::super::path::{check_mode, check_unreserved};
use crate::core::v1::pod::PodOptions;
use crate::core::v1::{
    ClusterTrustBundleProjection, KeyToPath, ProjectedVolumeSource, ServiceAccountTokenProjection, VolumeProjection,
};

/// What two files at one path are told.
const CONFLICT: &str = "conflicting duplicate paths";

/// The shortest life of a token, in seconds.
const SHORTEST: i64 = 10 * 60;

/// The longest one.
const LONGEST: i64 = 1 << 32;

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
    /// Reports what is wrong with the source at `index`; some of it is reported at the volume, as ever.
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
        let given = [
            self.secret.is_some(),
            self.config_map.is_some(),
            self.downward_api.is_some(),
            self.service_account_token.is_some(),
            self.cluster_trust_bundle.is_some(),
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
            ..SHORTEST => Some("may not specify a duration less than 10 minutes"),
            SHORTEST..=LONGEST => None,
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
                for problem in bundle_name(name) {
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

/// The name of a trust bundle; colons separate it from its signer.
fn bundle_name(name: &str) -> names::Complaints {
    names::dns_subdomain(name.rsplit(':').next().unwrap_or(name))
}
