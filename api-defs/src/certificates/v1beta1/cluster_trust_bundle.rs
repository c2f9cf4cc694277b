//! Cluster trust bundles.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::names::{self, Complaints, NameRule};
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
    feature = crate::features::CLUSTER_TRUST_BUNDLE,
    cluster,
    name_rule = of_strategy,
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
        let (start, name) = (&self.metadata.generate_name, &self.metadata.name);
        for (field, text, rule) in [
            ("metadata.generateName", start, names::check_prefix as Rule),
            ("metadata.name", name, names::check),
        ] {
            if !text.is_empty() {
                for complaint in complaints(text, &self.spec.signer_name, rule) {
                    errors.invalid(field, text, complaint);
                }
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

/// Checks a text by a rule.
type Rule = fn(NameRule, &str) -> Complaints;

/// Returns the errors in the name of a bundle for `signer`, which may be empty.
pub(crate) fn name_complaints(name: &str, signer: &str) -> Complaints {
    complaints(name, signer, names::check)
}

/// Returns the errors in a name or in the start of a generated one; `rule` checks the part without the signer.
fn complaints(name: &str, signer: &str, rule: Rule) -> Complaints {
    if signer.is_empty() {
        return match name.contains(':') {
            true => vec!["ClusterTrustBundle without signer name must not have \":\" in its name".to_owned()],
            false => rule(NameRule::DnsSubdomain, name),
        };
    }
    let prefix = format!("{}:", signer.replace('/', ":"));
    match name.strip_prefix(&prefix) {
        Some(rest) => rule(NameRule::DnsSubdomain, rest),
        None => vec![format!(
            "ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}"
        )],
    }
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::strategy::Context;
    use planesmith_machinery::validation::check_create;

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

    #[test]
    fn generated_names_start_with_the_signer_too() {
        let prefix = "ClusterTrustBundle for signerName a.b/c must be named with prefix a.b:c:";
        let cases = [
            ("a.b:c:x", "", "a.b/c", vec![]),
            ("a.b:c:x", "a.b:c:x-", "a.b/c", vec![]),
            (
                "a.b:c:x",
                "foo-",
                "a.b/c",
                vec![format!("metadata.generateName: Invalid value: \"foo-\": {prefix}")],
            ),
            (
                "a/b",
                "",
                "a.b/c",
                vec![format!("metadata.name: Invalid value: \"a/b\": {prefix}")],
            ),
            (
                "..",
                "",
                "a.b/c",
                vec![format!("metadata.name: Invalid value: \"..\": {prefix}")],
            ),
        ];
        for (name, start, signer, expected) in cases {
            let mut bundle = ClusterTrustBundle::default();
            bundle.metadata.name = name.to_owned();
            bundle.metadata.generate_name = start.to_owned();
            bundle.spec.signer_name = signer.to_owned();
            let errors = check_create(&bundle, &Context::default());
            let names = errors
                .as_slice()
                .iter()
                .filter(|error| error.field.starts_with("metadata."));
            let found: Vec<String> = names.map(|error| error.message()).collect();
            assert_eq!(found, expected, "{name} {start}");
        }
    }
}
