//! Scheduling policies of groups of pods.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;
use planesmith_machinery::value::Value;

/// Scheduling policy of a group of pods. Exactly one field is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(union)]
pub struct PodGroupSchedulingPolicy {
    /// Schedules the pods one by one.
    #[field(proto = 1)]
    pub basic: Option<BasicSchedulingPolicy>,
    /// Schedules all pods of the group together or none.
    #[field(proto = 2)]
    pub gang: Option<GangSchedulingPolicy>,
}

/// Scheduling of pods one by one.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct BasicSchedulingPolicy {}

/// Scheduling of pods all together or not at all.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct GangSchedulingPolicy {
    /// Minimum number of pods to start; at least 1.
    #[field(proto = 1, keep)]
    pub min_count: i32,
}

/// Constraints on all pods of a group.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodGroupSchedulingConstraints {
    /// Topology domains in which the pods must be placed together; at most one.
    #[field(proto = 1, list_type = atomic)]
    pub topology: Vec<TopologyConstraint>,
}

/// A topology domain in which pods must be placed together.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TopologyConstraint {
    /// Node label that defines the domains: all pods run on nodes with the same value.
    #[field(proto = 1, keep)]
    pub key: String,
}

/// A device claim that the pods of a group share. Refers to either a claim or a template.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodGroupResourceClaim {
    /// Name under which pods refer to the claim.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Name of an existing ResourceClaim.
    #[field(proto = 2)]
    pub resource_claim_name: Option<String>,
    /// Name of a ResourceClaimTemplate from which a claim is created for the group.
    #[field(proto = 3)]
    pub resource_claim_template_name: Option<String>,
}

/// Maximum number of claims of a group.
const MAX_CLAIMS: usize = 4;

impl PodGroupSchedulingPolicy {
    /// Reports errors in the policy.
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        match (&self.basic, &self.gang) {
            (None, None) => errors.invalid("", "", "must specify one of: `basic`, `gang`"),
            (Some(_), Some(_)) => errors.invalid("", "{basic, gang}", "must specify exactly one of: `basic`, `gang`"),
            _ => {}
        }
        match self.gang.as_ref().map(|gang| gang.min_count) {
            None | Some(1..) => {}
            Some(0) => errors.required("gang.minCount", ""),
            Some(count) => errors.invalid("gang.minCount", count, "must be greater than or equal to 1"),
        }
    }
}

/// Reports errors in the claims of a group at `resourceClaims`.
pub(super) fn check_claims(claims: &[PodGroupResourceClaim], errors: &mut FieldErrors) {
    if claims.len() > MAX_CLAIMS {
        return errors.too_many("resourceClaims", claims.len(), MAX_CLAIMS as u64);
    }
    for (index, claim) in claims.iter().enumerate() {
        if claims[..index].iter().any(|other| other.name == claim.name) {
            let errors = &mut *errors.at_index("resourceClaims", index);
            errors.duplicate("", claim as &dyn Value);
        }
    }
    for (index, claim) in claims.iter().enumerate() {
        let errors = &mut *errors.at_index("resourceClaims", index);
        if claim.name.is_empty() {
            errors.required("name", "");
        } else {
            for problem in names::short_name(&claim.name) {
                errors.invalid("name", &claim.name, problem);
            }
        }
        let sources = [&claim.resource_claim_name, &claim.resource_claim_template_name];
        if sources.into_iter().flatten().count() != 1 {
            let detail = "must specify exactly one of: `resourceClaimName`, `resourceClaimTemplateName`";
            errors.invalid("", "", detail);
        }
    }
}
