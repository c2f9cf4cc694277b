//! Validation of persistent volume claims.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;
use planesmith_machinery::quantity::Quantity;
use planesmith_machinery::validation::{SelectorValues, check_label_selector, check_template_metadata};

use super::{PersistentVolumeClaimSpec, PersistentVolumeClaimStatus};
use crate::core::v1::PersistentVolumeClaimTemplate;
use crate::core::v1::access_mode::check_access_modes;
use crate::core::v1::persistent_volume::{VOLUME_MODES, class_problems};
use crate::core::v1::resource_list::round_up_to_milli;

/// Legal states of a resize.
const RESIZE_STATES: [&str; 5] = [
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
];

impl PersistentVolumeClaimSpec {
    /// Sets the defaults.
    pub(crate) fn set_defaults(&mut self) {
        self.volume_mode.get_or_insert_with(|| "Filesystem".to_owned());
        round_up_to_milli(&mut self.resources.limits);
        round_up_to_milli(&mut self.resources.requests);
    }

    /// Reports errors in the spec.
    pub(crate) fn check(&self, errors: &mut FieldErrors) {
        if self.access_modes.is_empty() {
            errors.required("accessModes", "at least 1 access mode is required");
        }
        if let Some(selector) = &self.selector {
            check_label_selector(selector, SelectorValues::Legal, &mut errors.at("selector"));
        }
        check_access_modes(&self.access_modes, errors);
        {
            let errors = &mut *errors.at_key("resources", "storage");
            match self.resources.requests.get("storage") {
                None => errors.required("", ""),
                Some(amount) if amount.is_negative() || amount.is_zero() => {
                    errors.invalid("", amount.as_str(), "must be greater than zero");
                }
                Some(_) => {}
            }
        }
        let class = self.storage_class_name.as_deref().unwrap_or_default();
        for problem in class_problems(class) {
            errors.invalid("storageClassName", class, problem);
        }
        if let Some(mode) = self.volume_mode.as_deref()
            && !VOLUME_MODES.contains(&mode)
        {
            errors.not_supported("volumeMode", mode, &VOLUME_MODES);
        }
        self.check_data_source(errors);
        let class = self.volume_attributes_class_name.as_deref().unwrap_or_default();
        for problem in class_problems(class) {
            errors.invalid("volumeAttributesClassName", class, problem);
        }
    }

    /// Returns the warnings about a valid claim; `field` is the path of the spec.
    pub(crate) fn warnings(&self, field: &str) -> Vec<String> {
        let lists = [
            ("requests", &self.resources.requests),
            ("limits", &self.resources.limits),
        ];
        let fractions = lists.into_iter().filter_map(|(list, amounts)| {
            let amount = amounts.get("storage")?;
            (amount.milli_value() % 1000 != 0).then(|| {
                format!(
                    "{field}.resources.{list}[storage]: fractional byte value \"{amount}\" is invalid, must be an \
                     integer"
                )
            })
        });
        fractions.collect()
    }
}

impl PersistentVolumeClaimTemplate {
    /// Reports errors in the template.
    pub(crate) fn check(&self, errors: &mut FieldErrors) {
        check_template_metadata("metadata", &self.metadata, errors);
        self.spec.check(&mut errors.at("spec"));
    }
}

impl PersistentVolumeClaimStatus {
    /// Reports errors in the status.
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        for (resource, amount) in &self.capacity {
            check_amount(amount, &mut errors.at_key("status.capacity", resource));
        }
        for (resource, state) in &self.allocated_resource_statuses {
            const FIELD: &str = "status.allocatedResourceStatuses";
            check_resource(FIELD, resource, errors);
            if !RESIZE_STATES.contains(&state.as_str()) {
                errors.not_supported(FIELD, resource, &RESIZE_STATES);
            }
        }
        for (resource, amount) in &self.allocated_resources {
            if check_resource("status.allocatedResources", resource, errors) {
                check_amount(amount, &mut errors.at_key("status.allocatedResources", resource));
            }
        }
    }
}

/// Reports errors in the name of a resized resource. Returns true if there are none.
fn check_resource(field: &str, resource: &str, errors: &mut FieldErrors) -> bool {
    let problems = names::qualified_name(resource);
    let native = !resource.contains('/') || resource.contains("kubernetes.io/");
    let legal = problems.is_empty();
    for problem in problems {
        errors.invalid(field, resource, problem);
    }
    if legal && native && resource != "storage" {
        errors.not_supported(field, resource, &["storage"]);
        return false;
    }
    legal
}

fn check_amount(amount: &Quantity, errors: &mut FieldErrors) {
    if amount.value() < 0 {
        errors.invalid("", amount.value(), "must be a valid resource quantity");
    }
}
