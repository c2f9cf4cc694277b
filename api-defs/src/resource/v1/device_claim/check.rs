//! Validation of requests for devices.

use std::collections::{BTreeMap, BTreeSet};

use planesmith_machinery::field_error::FieldErrors;

use super::super::list::{check_each, check_named};
use super::super::names::{check_fully_qualified, check_label};
use super::{DeviceClaim, DeviceConstraint};

/// Maximum number of requests, constraints and configurations of a claim, and of requests that one of them refers to.
const MAX_ELEMENTS: usize = 32;

/// Names of requests with the names of their alternatives.
pub(in crate::resource::v1) type RequestNames<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

impl DeviceClaim {
    /// Reports errors in a new claim.
    pub(in crate::resource::v1) fn check(&self, errors: &mut FieldErrors) {
        let names = self.request_names();
        check_named(
            "requests",
            &self.requests,
            MAX_ELEMENTS,
            |request| &request.name,
            errors,
            |request, errors| request.check(errors),
        );
        check_each(
            "constraints",
            &self.constraints,
            MAX_ELEMENTS,
            errors,
            |constraint, errors| {
                constraint.check(&names, errors);
            },
        );
        check_each("config", &self.config, MAX_ELEMENTS, errors, |config, errors| {
            check_references(&config.requests, &names, errors);
            config.device_configuration.check(false, errors);
        });
    }

    /// Returns the names that constraints, configurations and results can refer to.
    pub(in crate::resource::v1) fn request_names(&self) -> RequestNames<'_> {
        let requests = self.requests.iter().map(|request| {
            let alternatives = request.first_available.iter();
            (
                request.name.as_str(),
                alternatives.map(|alternative| alternative.name.as_str()).collect(),
            )
        });
        requests.collect()
    }
}

impl DeviceConstraint {
    fn check(&self, names: &RequestNames<'_>, errors: &mut FieldErrors) {
        check_references(&self.requests, names, errors);
        match (&self.match_attribute, &self.distinct_attribute) {
            (Some(attribute), _) => check_fully_qualified("matchAttribute", attribute, errors),
            (None, Some(attribute)) => check_fully_qualified("distinctAttribute", attribute, errors),
            (None, None) => {
                let detail = "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but multiple \
                              fields are set";
                errors.required("", detail);
            }
        }
    }
}

/// Reports errors in the names of requests at `requests`.
pub(in crate::resource::v1) fn check_references(
    references: &[String],
    names: &RequestNames<'_>,
    errors: &mut FieldErrors,
) {
    check_named(
        "requests",
        references,
        MAX_ELEMENTS,
        |name| name,
        errors,
        |name, errors| check_reference("", name, names, errors),
    );
}

/// Reports errors in the name of a request at `field`.
pub(in crate::resource::v1) fn check_reference(
    field: &str,
    reference: &str,
    names: &RequestNames<'_>,
    errors: &mut FieldErrors,
) {
    const UNKNOWN: &str = "must be the name of a request in the claim or the name of a request and a subrequest \
                           separated by '/'";
    let parts: Vec<&str> = reference.split('/').collect();
    if parts.len() > 2 {
        return errors.invalid(field, reference, UNKNOWN);
    }
    for part in &parts {
        check_label(field, part, errors);
    }
    let known = match parts.as_slice() {
        [request] => names.contains_key(request),
        [request, alternative] => names.get(request).is_some_and(|names| names.contains(alternative)),
        _ => false,
    };
    if !known {
        errors.invalid(field, reference, UNKNOWN);
    }
}
