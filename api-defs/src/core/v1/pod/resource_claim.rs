//! Device claims of pods and their status.

use planesmith_machinery::field_error::{FieldError, FieldErrorKind, FieldErrors};
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::names;
use std::collections::BTreeMap;
use std::collections::BTreeSet;

use planesmith_machinery::Struct;
use planesmith_machinery::quantity::Quantity;

use super::PodSpec;

/// A device claim of a pod, under a name that its containers refer to.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodResourceClaim {
    /// Name of the claim within the pod, a DNS label.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Name of a ResourceClaim in the namespace. Excludes resourceClaimTemplateName.
    #[field(proto = 3)]
    pub resource_claim_name: Option<String>,
    /// Name of a ResourceClaimTemplate in the namespace. A claim is created from it and deleted with the pod. Excludes
    /// resourceClaimName.
    #[field(proto = 4)]
    pub resource_claim_template_name: Option<String>,
}

/// Observed state of a claim that is created for a pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodResourceClaimStatus {
    /// Name of the entry in resourceClaims of the spec.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Name of the ResourceClaim that was created. Absent when none was needed.
    #[field(proto = 2)]
    pub resource_claim_name: Option<String>,
}

/// Status of the claim for extended resources of a pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodExtendedResourceClaimStatus {
    /// Mapping of the claim's requests to the extended resources of the containers.
    #[field(proto = 1, keep, list_type = atomic)]
    pub request_mappings: Vec<ContainerExtendedResourceRequest>,
    /// Name of the ResourceClaim that was created for the extended resources.
    #[field(proto = 2, keep)]
    pub resource_claim_name: String,
}

impl PodExtendedResourceClaimStatus {
    /// Reports errors, for the pod with `spec`.
    pub(super) fn check(&self, spec: &PodSpec, errors: &mut FieldErrors) {
        if self.request_mappings.is_empty() {
            errors.required("requestMappings", "at least one request mapping is required");
        }
        let mut known = BTreeSet::new();
        for (index, mapping) in self.request_mappings.iter().enumerate() {
            mapping.check(index, spec, errors);
            let errors = &mut *errors.at_index("requestMappings", index);
            let parts = [
                ("containerName", mapping.container_name.as_str()),
                ("resourceName", &mapping.resource_name),
                ("requestName", &mapping.request_name),
            ];
            if !known.insert(parts) {
                for (field, part) in parts {
                    errors.duplicate(field, part);
                }
            }
        }
        if self.resource_claim_name.is_empty() {
            return errors.required("resourceClaimName", "");
        }
        for problem in names::dns_subdomain(&self.resource_claim_name) {
            errors.invalid("resourceClaimName", &self.resource_claim_name, problem);
        }
    }
}

impl ContainerExtendedResourceRequest {
    /// Reports errors in the mapping at `index`. As in kube-apiserver, errors about its request have the path beside
    /// the list.
    fn check(&self, index: usize, spec: &PodSpec, errors: &mut FieldErrors) {
        let mut containers = spec.containers.iter().chain(&spec.init_containers);
        let container = containers.find(|container| container.name == self.container_name);
        {
            let errors = &mut *errors.at_index("requestMappings", index);
            match container {
                None => {
                    let problem = "must match the name of an entry in spec.initContainers.name or spec.containers.name";
                    errors.invalid("containerName", &self.container_name, problem);
                }
                Some(container) if !container.resources.requests.contains_key(&self.resource_name) => {
                    let problem = "must match the extended resource name of an entry in \
                                   spec.initContainers.resources.requests or spec.containers.resources.requests";
                    errors.invalid("resourceName", &self.resource_name, problem);
                }
                Some(_) => {}
            }
        }
        for problem in names::dns_label(&self.request_name) {
            errors.invalid("requestName", &self.request_name, problem);
        }
    }
}

/// Maps a request of a claim to an extended resource of a container.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerExtendedResourceRequest {
    /// Name of the container that requests the resource.
    #[field(proto = 1, keep)]
    pub container_name: String,
    /// Name of the extended resource.
    #[field(proto = 2, keep)]
    pub resource_name: String,
    /// Name of the request in the claim.
    #[field(proto = 3, keep)]
    pub request_name: String,
}

/// Consumption of the node's allocatable resources by the devices of a claim.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NodeAllocatableResourceClaimStatus {
    /// Name of the ResourceClaim that consumes node resources.
    #[field(proto = 1, keep)]
    pub resource_claim_name: String,
    /// Names of the containers that use the claim.
    #[field(proto = 2, list_type = set)]
    pub containers: Vec<String>,
    /// Amount of each node resource that the claim consumes.
    #[field(proto = 3, keep, go_type = "map[v1.ResourceName]resource.Quantity")]
    pub resources: BTreeMap<String, Quantity>,
}

/// Reports errors in the device claims of a pod.
pub(super) fn check_claims(claims: &[PodResourceClaim], errors: &mut FieldErrors) {
    let mut known = BTreeSet::new();
    for (index, claim) in claims.iter().enumerate() {
        let mut errors = errors.at_index("resourceClaims", index);
        let name = claim.name.as_str();
        if name.is_empty() {
            errors.required("name", "");
        } else if !known.insert(name) {
            errors.duplicate("name", name);
        } else {
            for problem in names::dns_label(name) {
                errors.invalid("name", name, problem);
            }
        }
        let problem = match (&claim.resource_claim_name, &claim.resource_claim_template_name) {
            (Some(_), Some(_)) => {
                Some("at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified")
            }
            (None, None) => Some("must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"),
            _ => None,
        };
        if let Some(problem) = problem {
            errors.invalid("", GoValue(claim), problem);
        }
        let references = [
            ("resourceClaimName", &claim.resource_claim_name),
            ("resourceClaimTemplateName", &claim.resource_claim_template_name),
        ];
        for (field, name) in references {
            if let Some(name) = name {
                for problem in names::dns_subdomain(name) {
                    errors.invalid(field, name, problem);
                }
            }
        }
    }
}

/// Reports the device claims of the mirror of a static pod. As in kube-apiserver, the errors are at an empty path.
pub(super) fn refuse_claims(claims: &[PodResourceClaim], errors: &mut FieldErrors) {
    for _ in claims {
        errors.push(FieldError {
            field: "[]".to_owned(),
            kind: FieldErrorKind::Forbidden,
            value: String::new(),
            detail: "static pods do not support resource claims".to_owned(),
        });
    }
}

/// Reports errors in the statuses of device claims.
pub(super) fn check_claim_statuses(
    statuses: &[PodResourceClaimStatus],
    claims: &[PodResourceClaim],
    errors: &mut FieldErrors,
) {
    let mut known = BTreeSet::new();
    for (index, status) in statuses.iter().enumerate() {
        let mut errors = errors.at_index("resourceClaimStatuses", index);
        if !claims.iter().any(|claim| claim.name == status.name) {
            let problem = "must match the name of an entry in `spec.resourceClaims`";
            errors.invalid("name", &status.name, problem);
        }
        if !known.insert(&status.name) {
            errors.duplicate("name", &status.name);
        }
        if let Some(name) = &status.resource_claim_name {
            for problem in names::dns_subdomain(name) {
                errors.invalid("resourceClaimName", name, problem);
            }
        }
    }
}
