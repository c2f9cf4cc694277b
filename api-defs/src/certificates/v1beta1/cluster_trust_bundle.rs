//! Cluster trust bundles.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::names;
use planesmith_machinery::strategy::{Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::{Resource, Struct};

use crate::certificates::{pem, signer_name};

/// Maximum size of a bundle's certificates in bytes.
const MAX_BUNDLE: usize = 1024 * 1024;

/// Trusted CA certificates for the certificates of a signer, or for general use if no signer is named. Pods can mount
/// them.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "certificates.k8s.io",
    version = "v1beta1",
    cluster,
    name_rule = path_segment,
    conditional_update,
    selectable("spec.signerName"),
    strategy, strategy_extensions
)]
#[resource(
    column(name),
    column(name = "SignerName", type = "string", doc = "The signer.", path = "spec.signerName")
)]
pub struct ClusterTrustBundle {
    /// Standard metadata. The name starts with the name of the signer, in which a colon replaces the slash, followed by
    /// a colon. Without a signer, the name contains no colon.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The trusted certificates and their signer.
    #[field(proto = 2, keep)]
    pub spec: ClusterTrustBundleSpec,
}

/// Trusted certificates and the signer they belong to.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ClusterTrustBundleSpec {
    /// Signer that the CA certificates belong to, as domain/path. Empty for none. Immutable.
    #[field(proto = 1)]
    pub signer_name: String,
    /// Distinct CA certificates in PEM. Their order has no meaning.
    #[field(proto = 2, keep)]
    pub trust_bundle: String,
}

impl Strategy for ClusterTrustBundle {
    fn validate(&self, errors: &mut FieldErrors) {
        self.check(None, errors);
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if self.spec.signer_name != old.spec.signer_name {
            errors.invalid("spec.signerName", &self.spec.signer_name, "field is immutable");
        }
    }
}

impl StrategyExtensions for ClusterTrustBundle {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_FIRST;

    fn validate_replacement(&self, old: &Self, errors: &mut FieldErrors) {
        self.check(Some(old), errors);
    }
}

impl ClusterTrustBundle {
    fn check(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        let name = self.metadata.name.as_str();
        if !name.is_empty() {
            for complaint in name_complaints(name, &self.spec.signer_name) {
                errors.invalid("metadata.name", name, complaint);
            }
        }
        if !self.spec.signer_name.is_empty() {
            signer_name::check("spec.signerName", &self.spec.signer_name, errors);
        }
        // An unchanged bundle stays valid even if the certificate parser becomes stricter.
        if old.is_none_or(|old| old.spec.trust_bundle != self.spec.trust_bundle) {
            const FIELD: &str = "spec.trustBundle";
            if self.spec.trust_bundle.len() > MAX_BUNDLE {
                return errors.too_long(FIELD, MAX_BUNDLE as u64);
            }
            for complaint in pem::anchors_complaints(&self.spec.trust_bundle) {
                errors.invalid(FIELD, "<value omitted>", complaint);
            }
        }
    }
}

/// Returns the errors in the name of a bundle for `signer`, which may be empty.
pub(crate) fn name_complaints(name: &str, signer: &str) -> Vec<String> {
    if signer.is_empty() {
        return match name.contains(':') {
            true => vec!["ClusterTrustBundle without signer name must not have \":\" in its name".to_owned()],
            false => names::dns_subdomain(name),
        };
    }
    let prefix = format!("{}:", signer.replace('/', ":"));
    match name.strip_prefix(&prefix) {
        Some(rest) => names::dns_subdomain(rest),
        None => vec![format!(
            "ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}"
        )],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_start_with_the_signer() {
        assert_eq!(name_complaints("plain", ""), Vec::<String>::new());
        assert_eq!(
            name_complaints("example.com:s:one", "example.com/s"),
            Vec::<String>::new()
        );
        assert_eq!(
            name_complaints("one", "example.com/s"),
            ["ClusterTrustBundle for signerName example.com/s must be named with prefix example.com:s:"]
        );
        assert_eq!(name_complaints("a:b", "").len(), 1);
    }
}
