//! Validation of the resources of containers and pods.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::{FieldError, FieldErrorKind, FieldErrors};
use planesmith_machinery::names;
use planesmith_machinery::quantity::Quantity;
use planesmith_machinery::value::Value;

use crate::core::v1::pod::PodOptions;
use crate::core::v1::resource_name::{
    check_container_resource, check_pod_resource, counts_whole, is_huge_page, is_overcommitted,
};
use crate::core::v1::{ResourceClaim, ResourceList, ResourceRequirements};

/// The set of resource names that are legal in requests and limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceNames {
    /// Resource names of containers.
    OfContainers,
    /// Resource names at pod level.
    OfPods,
}

impl ResourceNames {
    fn check(self, name: &str, errors: &mut FieldErrors) {
        match self {
            ResourceNames::OfContainers => check_container_resource(errors, "", name),
            ResourceNames::OfPods => check_pod_resource(errors, "", name),
        }
    }
}

/// Reports an illegal amount of a resource.
fn check_amount(name: &str, amount: &Quantity, errors: &mut FieldErrors) {
    if amount.is_negative() {
        errors.invalid("", amount.as_str(), "must be greater than or equal to 0");
    }
    if counts_whole(name) && amount.milli_value() % 1000 != 0 {
        errors.invalid("", amount as &dyn Value, "must be an integer");
    }
}

impl ResourceRequirements {
    /// Reports errors in the amounts, and claims that `claims` of the pod does not contain.
    pub(crate) fn check(
        &self,
        known: ResourceNames,
        claims: &BTreeSet<&str>,
        options: PodOptions,
        errors: &mut FieldErrors,
    ) {
        for (name, amount) in &self.limits {
            let mut errors = errors.at_key("limits", name);
            known.check(name, &mut errors);
            check_amount(name, amount, &mut errors);
            check_huge_pages(name, amount, options, &mut errors);
        }
        for (name, amount) in &self.requests {
            {
                let mut errors = errors.at_key("requests", name);
                known.check(name, &mut errors);
                check_amount(name, amount, &mut errors);
            }
            self.check_request(name, amount, errors);
            check_huge_pages(name, amount, options, &mut errors.at_key("requests", name));
        }
        let names = || self.limits.keys().chain(self.requests.keys()).map(String::as_str);
        if names().any(is_huge_page) && !names().any(|name| matches!(name, "cpu" | "memory")) {
            errors.forbidden("", "HugePages require cpu or memory");
        }
        check_claims(&self.claims, claims, errors);
    }

    /// Checks a request against its limit.
    fn check_request(&self, name: &str, amount: &Quantity, errors: &mut FieldErrors) {
        let shared = is_overcommitted(name);
        match self.limits.get(name) {
            Some(limit) if amount != limit && !shared => {
                let problem = format!("must be equal to {name} limit of {limit}");
                errors.invalid("requests", amount.as_str(), problem);
            }
            Some(limit) if amount > limit => {
                let problem = format!("must be less than or equal to {name} limit of {limit}");
                errors.invalid("requests", amount.as_str(), problem);
            }
            None if !shared => errors.required("limits", "Limit must be set for non overcommitable resources"),
            _ => {}
        }
    }

    /// True if limits or requests are set.
    #[must_use]
    pub fn has_amounts(&self) -> bool {
        !self.limits.is_empty() || !self.requests.is_empty()
    }
}

fn check_huge_pages(name: &str, amount: &Quantity, options: PodOptions, errors: &mut FieldErrors) {
    if is_huge_page(name) && !options.odd_huge_pages && !fits_pages(name, amount) {
        let problem = format!("{amount} is not positive integer multiple of {name}");
        errors.invalid("", amount.as_str(), problem);
    }
}

/// True if an amount of huge pages is a whole number of pages.
fn fits_pages(name: &str, amount: &Quantity) -> bool {
    let size = name
        .strip_prefix("hugepages-")
        .and_then(|size| size.parse::<Quantity>().ok());
    size.is_some_and(|size| size.value() > 0 && amount.value() % size.value() == 0)
}

/// True if an amount of huge pages in the list is not a whole number of pages.
pub(crate) fn has_odd_huge_pages(list: &ResourceList) -> bool {
    list.iter()
        .any(|(name, amount)| is_huge_page(name) && !fits_pages(name, amount))
}

fn check_claims(claims: &[ResourceClaim], of_pod: &BTreeSet<&str>, errors: &mut FieldErrors) {
    // Names of claims, or `claim/request` for a single request.
    let mut used: BTreeSet<String> = BTreeSet::new();
    for (index, claim) in claims.iter().enumerate() {
        let mut errors = errors.at_index("claims", index);
        let name = claim.name.as_str();
        if name.is_empty() {
            errors.required("", "");
            continue;
        }
        if used.contains(name) {
            errors.duplicate("", name);
        } else {
            let mut key = name.to_owned();
            if !claim.request.is_empty() {
                for problem in names::dns_label(&claim.request) {
                    errors.invalid("request", &claim.request, problem);
                }
                key = format!("{name}/{}", claim.request);
            }
            if used.contains(&key) {
                errors.duplicate("", &key);
            } else if claim.request.is_empty() {
                let parts = used.iter().filter_map(|key| key.split_once('/'));
                for _ in parts.filter(|(claim, _)| *claim == name) {
                    errors.duplicate("", name);
                }
            }
            used.insert(key);
        }
        if !of_pod.contains(name) {
            report_unknown(name, of_pod, &mut errors);
        }
    }
}

fn report_unknown(name: &str, of_pod: &BTreeSet<&str>, errors: &mut FieldErrors) {
    let known: Vec<&str> = of_pod.iter().copied().collect();
    let rest = match known.is_empty() {
        true => " which is empty".to_owned(),
        false => format!(": {}", known.join(", ")),
    };
    errors.report(FieldError {
        field: String::new(),
        kind: FieldErrorKind::NotFound,
        value: planesmith_machinery::go_format::quote(name),
        detail: format!("must be one of the names in pod.spec.resourceClaims{rest}"),
    });
}
