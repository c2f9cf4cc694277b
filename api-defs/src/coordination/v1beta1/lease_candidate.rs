//! Candidates for leases.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::micro_time::MicroTime;
use planesmith_machinery::strategy::{MetadataRules, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::{Resource, Struct};

use crate::coordination::v1::check_strategy;
use crate::semantic_version::SemanticVersion;

/// A candidate for a lease and its versions, by which the best candidate is chosen.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "coordination.k8s.io",
    version = "v1beta1",
    name_rule = config_key,
    create_on_update,
    conditional_update,
    strategy, strategy_extensions
)]
#[resource(
    column(name),
    column(
        name = "LeaseName",
        type = "string",
        doc = "The lease it would take over.",
        path = "spec.leaseName"
    ),
    column(
        name = "BinaryVersion",
        type = "string",
        doc = "Its version.",
        path = "spec.binaryVersion"
    ),
    column(
        name = "EmulationVersion",
        type = "string",
        doc = "The emulated version.",
        path = "spec.emulationVersion"
    ),
    column(age)
)]
#[resource(deprecated = "coordination.k8s.io/v1beta1 LeaseCandidate is deprecated in v1.36+, unavailable in v1.39+")]
pub struct LeaseCandidate {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The lease and the capabilities of the candidate.
    #[field(proto = 2, expected)]
    pub spec: LeaseCandidateSpec,
}

/// The lease and the capabilities of a candidate.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct LeaseCandidateSpec {
    /// Name of the lease. Immutable.
    #[field(proto = 1, keep)]
    pub lease_name: String,
    /// Time of the last liveness request to the candidate.
    #[field(proto = 2)]
    pub ping_time: Option<MicroTime>,
    /// Time of the candidate's last response to a liveness request.
    #[field(proto = 3)]
    pub renew_time: Option<MicroTime>,
    /// Version of the candidate's binary.
    #[field(proto = 4, keep)]
    pub binary_version: String,
    /// Version that the candidate emulates, not above the binary version.
    #[field(proto = 5)]
    pub emulation_version: String,
    /// Strategy to choose the best candidate. The highest strategy of all candidates is used.
    #[field(proto = 6, expected)]
    pub strategy: String,
}

impl Strategy for LeaseCandidate {
    fn validate(&self, errors: &mut FieldErrors) {
        const OLDEST: &str = "must be specified when `strategy` is 'OldestEmulationVersion'";
        let errors = &mut *errors.at("spec");
        let spec = &self.spec;
        if spec.lease_name.is_empty() {
            errors.required("leaseName", "");
        }
        let emulated = version("emulationVersion", &spec.emulation_version, errors);
        if spec.binary_version.is_empty() {
            errors.required("binaryVersion", "");
        }
        let binary = version("binaryVersion", &spec.binary_version, errors);
        if !spec.binary_version.is_empty() && !spec.emulation_version.is_empty() && binary < emulated {
            let detail = "must be greater than or equal to `emulationVersion`";
            errors.invalid("binaryVersion", &spec.binary_version, detail);
        }
        if spec.strategy.is_empty() {
            return errors.required("strategy", "");
        }
        if spec.strategy == "OldestEmulationVersion" && emulated == SemanticVersion::default() {
            errors.required("emulationVersion", OLDEST);
        }
        check_strategy("strategy", &spec.strategy, errors);
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if self.spec.lease_name != old.spec.lease_name {
            errors.invalid("spec.leaseName", &self.spec.lease_name, "field is immutable");
        }
    }
}

impl StrategyExtensions for LeaseCandidate {
    const METADATA: MetadataRules = MetadataRules::AnyFinalizers;
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_FIRST;
}

/// Parses the version at `field` and reports an error if it is malformed. Malformed and missing versions count as
/// 0.0.0.
fn version(field: &str, text: &str, errors: &mut FieldErrors) -> SemanticVersion {
    let version = SemanticVersion::parse(text);
    if version.is_none() && !text.is_empty() {
        errors.invalid(field, text, "must be a valid semantic version");
    }
    version.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(binary: &str, emulation: &str, strategy: &str) -> Vec<String> {
        let candidate = LeaseCandidate {
            spec: LeaseCandidateSpec {
                lease_name: "l".to_owned(),
                binary_version: binary.to_owned(),
                emulation_version: emulation.to_owned(),
                strategy: strategy.to_owned(),
                ..LeaseCandidateSpec::default()
            },
            ..LeaseCandidate::default()
        };
        let mut errors = FieldErrors::default();
        candidate.validate(&mut errors);
        errors.as_slice().iter().map(|error| error.message()).collect()
    }

    #[test]
    fn the_oldest_version_needs_a_version() {
        const OLDEST: &str = "OldestEmulationVersion";
        assert_eq!(messages("1.36.0", "1.35.0", OLDEST), Vec::<String>::new());
        assert_eq!(messages("1.36.0", "", "example.com/own"), Vec::<String>::new());
        let missing = "spec.emulationVersion: Required value: must be specified when `strategy` is \
                       'OldestEmulationVersion'";
        assert_eq!(messages("1.36.0", "", OLDEST), [missing]);
        assert_eq!(
            messages("x", "1.35.0", OLDEST),
            [
                "spec.binaryVersion: Invalid value: \"x\": must be a valid semantic version",
                "spec.binaryVersion: Invalid value: \"x\": must be greater than or equal to `emulationVersion`",
            ]
        );
        assert_eq!(
            messages("1.36.0-a", "1.36.0", OLDEST),
            ["spec.binaryVersion: Invalid value: \"1.36.0-a\": must be greater than or equal to `emulationVersion`"]
        );
        assert_eq!(
            messages("1.36.0", "0.0.0", "Newest"),
            ["spec.strategy.strategy: Unsupported value: \"Newest\": supported values: \"OldestEmulationVersion\""]
        );
    }
}
