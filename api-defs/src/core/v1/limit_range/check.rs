//! Validation of limit ranges.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;
use planesmith_machinery::quantity::{Notation, Quantity};

use super::{CONTAINER, LimitRangeItem};
use crate::core::v1::resource_name::{check_container_resource, check_resource, is_overcommitted};

const POD: &str = "Pod";
const CLAIM: &str = "PersistentVolumeClaim";
const STORAGE: &str = "storage";

/// Quantities from here on are compared as integers, because their thousandths exceed 64 bits.
const MAX_IN_MILLI: i64 = i64::MAX / 1000;

pub(super) fn check(limits: &[LimitRangeItem], errors: &mut FieldErrors) {
    let mut types = BTreeSet::new();
    for (index, item) in limits.iter().enumerate() {
        let errors = &mut *errors.at_index("limits", index);
        check_type(&item.type_, errors);
        if !types.insert(&item.type_) {
            errors.duplicate("type", &item.type_);
        }
        item.check(errors);
    }
}

fn check_type(type_: &str, errors: &mut FieldErrors) {
    let complaints = names::qualified_name(type_);
    if complaints.is_empty() && !type_.contains('/') && ![CONTAINER, POD, CLAIM].contains(&type_) {
        errors.invalid("type", type_, "must be a standard limit type or fully qualified");
    }
    for complaint in complaints {
        errors.invalid("type", type_, complaint);
    }
}

impl LimitRangeItem {
    fn check(&self, errors: &mut FieldErrors) {
        let of_pod = self.type_ == POD;
        let lists = [
            ("max", &self.max),
            ("min", &self.min),
            ("default", &self.default),
            ("defaultRequest", &self.default_request),
            ("maxLimitRequestRatio", &self.max_limit_request_ratio),
        ];
        let mut resources = BTreeSet::new();
        for (field, list) in lists {
            if of_pod && field.starts_with("default") {
                if !list.is_empty() {
                    errors.forbidden(field, "may not be specified when `type` is 'Pod'");
                }
                continue;
            }
            if field == "maxLimitRequestRatio" {
                self.check_claim(errors);
            }
            for resource in list.keys() {
                let errors = &mut *errors.at_key(field, resource);
                match self.type_.as_str() {
                    POD | CONTAINER => check_container_resource(errors, "", resource),
                    _ => drop(check_resource(errors, "", resource)),
                }
                resources.insert(resource.as_str());
            }
        }
        for resource in resources {
            self.check_resource(resource, errors);
        }
    }

    /// Checks limits on claims, which require the storage resource.
    fn check_claim(&self, errors: &mut FieldErrors) {
        if self.type_ == CLAIM && !self.min.contains_key(STORAGE) && !self.max.contains_key(STORAGE) {
            let detail = "either minimum or maximum storage value is required, but neither was provided";
            errors.required("limits", detail);
        }
    }

    /// Reports limits of a resource that contradict each other.
    fn check_resource(&self, resource: &str, errors: &mut FieldErrors) {
        let (min, max) = (self.min.get(resource), self.max.get(resource));
        let ratio = self.max_limit_request_ratio.get(resource);
        let (default, request) = match self.type_ == POD {
            true => (None, None),
            false => (self.default.get(resource), self.default_request.get(resource)),
        };
        let mut order = |field: &str, shown: Option<&Quantity>, less: Named<'_>, more: Named<'_>| {
            if let (Some(shown), (less_name, Some(less)), (more_name, Some(more))) = (shown, less, more)
                && less > more
            {
                let detail = format!("{less_name} value {less} is greater than {more_name} value {more}");
                errors.at_key(field, resource).invalid("", shown.as_str(), detail);
            }
        };
        order("min", min, ("min", min), ("max", max));
        order("defaultRequest", request, ("min", min), ("default request", request));
        order("defaultRequest", request, ("default request", request), ("max", max));
        order(
            "defaultRequest",
            request,
            ("default request", request),
            ("default limit", default),
        );
        order("default", min, ("min", min), ("default", default));
        order("default", max, ("default", default), ("max", max));
        if let Some(ratio) = ratio {
            check_ratio(ratio, min, max, &mut errors.at_key("maxLimitRequestRatio", resource));
        }
        if let (Some(default), Some(request)) = (default, request)
            && default != request
            && !is_overcommitted(resource)
        {
            let detail = format!("default value {default} must equal to defaultRequest value {request} in {resource}");
            errors
                .at_key("defaultRequest", resource)
                .invalid("", request.as_str(), detail);
        }
    }
}

/// A quantity and its name in messages.
type Named<'a> = (&'a str, Option<&'a Quantity>);

fn check_ratio(ratio: &Quantity, min: Option<&Quantity>, max: Option<&Quantity>, errors: &mut FieldErrors) {
    if *ratio < Quantity::new(1, Notation::Decimal) {
        errors.invalid("", ratio.as_str(), format!("ratio {ratio} is less than 1"));
    }
    if let (Some(min), Some(max)) = (min, max) {
        let fine = [ratio, min, max]
            .into_iter()
            .all(|amount| amount.value() < MAX_IN_MILLI);
        let number = |amount: &Quantity| match fine {
            true => as_float(amount.milli_value()),
            false => as_float(amount.value()),
        };
        let wanted = if fine { number(ratio) / 1000.0 } else { number(ratio) };
        let possible = number(max) / number(min);
        if wanted > possible {
            let detail = format!("ratio {ratio} is greater than max/min = {possible:.6}");
            errors.invalid("", ratio.as_str(), detail);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "ratios are compared as kube-apiserver does")]
fn as_float(value: i64) -> f64 {
    value as f64
}
