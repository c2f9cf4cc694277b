//! Validation of resource quotas.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;

use super::{ResourceQuotaSpec, ResourceQuotaStatus, ScopeSelector, ScopedResourceSelectorRequirement};
use crate::core::v1::resource_list::{ResourceList, check_amount};
use crate::core::v1::resource_name::{check_quota_resource, is_quota_resource};

/// Scopes that exclude each other.
const CONFLICTING: [[&str; 2]; 2] = [["BestEffort", "NotBestEffort"], ["NotTerminating", "Terminating"]];

/// Compute resources that quotas with scopes can limit.
const COMPUTE: [&str; 6] = [
    "cpu",
    "memory",
    "limits.cpu",
    "limits.memory",
    "requests.cpu",
    "requests.memory",
];

impl ResourceQuotaSpec {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        check_amounts("hard", &self.hard, errors);
        self.check_scopes(errors);
        if let Some(selector) = &self.scope_selector {
            self.check_selector(selector, &mut errors.at("scopeSelector"));
        }
    }

    fn check_scopes(&self, errors: &mut FieldErrors) {
        let scopes = self.scopes.as_slice();
        for scope in scopes {
            if !is_scope(scope) {
                errors.invalid("scopes", scopes, "unsupported scope");
            }
            for _ in self.misapplied(scope) {
                errors.invalid("scopes", scopes, "unsupported scope applied to resource");
            }
        }
        for _ in conflicts(scopes.iter().map(String::as_str)) {
            errors.invalid("scopes", scopes, "conflicting scopes");
        }
    }

    fn check_selector(&self, selector: &ScopeSelector, errors: &mut FieldErrors) {
        const FIELD: &str = "matchExpressions";
        for requirement in &selector.match_expressions {
            let scope = requirement.scope_name.as_str();
            if !is_scope(scope) {
                errors.at(FIELD).invalid("scopeName", scope, "unsupported scope");
            }
            for _ in self.misapplied(scope) {
                errors.invalid(FIELD, GoValue(selector), "unsupported scope applied to resource");
            }
            requirement.check(&mut errors.at(FIELD));
        }
        let scopes = selector
            .match_expressions
            .iter()
            .map(|requirement| requirement.scope_name.as_str());
        for _ in conflicts(scopes) {
            // As in kube-apiserver, the error has the path of the other list of scopes.
            errors.invalid(FIELD, GoValue(&self.scopes), "conflicting scopes");
        }
    }

    /// Returns the limited resources to which the scope does not apply.
    fn misapplied(&self, scope: &str) -> impl Iterator<Item = &str> {
        let resources = self.hard.keys().map(String::as_str);
        resources.filter(move |resource| is_quota_resource(resource) && !applies(scope, resource))
    }
}

impl ScopedResourceSelectorRequirement {
    fn check(&self, errors: &mut FieldErrors) {
        const VALUELESS: [&str; 5] = [
            "BestEffort",
            "NotBestEffort",
            "Terminating",
            "NotTerminating",
            "CrossNamespacePodAffinity",
        ];
        let operator = self.operator.as_str();
        if VALUELESS.contains(&self.scope_name.as_str()) && operator != "Exists" {
            let detail = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
                          ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, \
                          ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
            errors.invalid("operator", operator, detail);
        }
        match operator {
            "In" | "NotIn" if self.values.is_empty() => {
                let detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
                errors.required("values", detail);
            }
            "Exists" | "DoesNotExist" if !self.values.is_empty() => {
                let detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
                errors.invalid("values", self.values.as_slice(), detail);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => errors.invalid("operator", operator, "not a valid selector operator"),
        }
    }
}

impl ResourceQuotaStatus {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        check_amounts("hard", &self.hard, errors);
        check_amounts("used", &self.used, errors);
    }
}

/// True if two lists contain the same scopes in any order.
pub(super) fn same_scopes(left: &[String], right: &[String]) -> bool {
    let set = |scopes: &'_ [String]| scopes.iter().cloned().collect::<BTreeSet<_>>();
    set(left) == set(right)
}

fn check_amounts(field: &str, amounts: &ResourceList, errors: &mut FieldErrors) {
    for (resource, amount) in amounts {
        let errors = &mut *errors.at_key(field, resource);
        check_quota_resource(errors, "", resource);
        check_amount(errors, "", resource, amount);
    }
}

fn is_scope(scope: &str) -> bool {
    [
        "Terminating",
        "NotTerminating",
        "BestEffort",
        "NotBestEffort",
        "PriorityClass",
        "CrossNamespacePodAffinity",
        "VolumeAttributesClass",
    ]
    .contains(&scope)
}

/// True if the scope can limit the counted objects of the resource.
fn applies(scope: &str, resource: &str) -> bool {
    match scope {
        "Terminating" | "NotTerminating" | "NotBestEffort" | "PriorityClass" | "CrossNamespacePodAffinity" => {
            resource == "pods" || COMPUTE.contains(&resource)
        }
        "BestEffort" => resource == "pods",
        "VolumeAttributesClass" => ["persistentvolumeclaims", "requests.storage"].contains(&resource),
        _ => true,
    }
}

/// Returns the pairs of conflicting scopes.
fn conflicts<'a>(scopes: impl Iterator<Item = &'a str>) -> impl Iterator<Item = [&'static str; 2]> {
    let scopes: BTreeSet<&str> = scopes.collect();
    let conflicting = CONFLICTING.into_iter();
    conflicting.filter(move |pair| pair.iter().all(|scope| scopes.contains(scope)))
}
