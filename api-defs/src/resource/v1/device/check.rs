//! Validation of devices.

use planesmith_machinery::feature::Features;
use planesmith_machinery::field_error::{FieldErrors, Json};
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::names;

use super::super::binding::check_binding_conditions;
use super::super::device_request::EFFECTS;
use super::super::list::{check_each, check_named};
use super::super::names::{check_label, check_label_name, check_qualified, shortened};
use super::{Device, DeviceAttribute, DeviceTaint};
use crate::features::{DRA_LIST_TYPE_ATTRIBUTES, DRA_NODE_ALLOCATABLE_RESOURCES};

/// Maximum number of attributes and capacities of a device together.
const MAX_ATTRIBUTES: usize = 32;

/// Maximum number of attribute values of a device, counting each list element.
const MAX_VALUES: usize = 48;

/// Maximum size of an attribute value in bytes.
const MAX_VALUE: usize = 64;

/// Maximum length of a key that paths render in full: a domain, a slash and an identifier.
const MAX_KEY: usize = 63 + 1 + 32;

/// Maximum number of taints of a device.
const MAX_TAINTS: usize = 16;

/// Maximum number of counter sets that a device consumes from.
const MAX_CONSUMED_SETS: usize = 2;

impl Device {
    /// Drops fields of alpha features that are disabled in `features`, unless `old` has them.
    pub(in crate::resource::v1) fn drop_alpha(&mut self, old: Option<&Device>, features: &Features) {
        let had_mappings = old.is_some_and(|old| !old.node_allocatable_resource_mappings.is_empty());
        if !features.has(&DRA_NODE_ALLOCATABLE_RESOURCES) && !had_mappings {
            self.node_allocatable_resource_mappings.clear();
        }
        if features.has(&DRA_LIST_TYPE_ATTRIBUTES) {
            return;
        }
        for (name, attribute) in &mut self.attributes {
            let old = old.and_then(|old| old.attributes.get(name));
            if old.is_none_or(|old| !old.has_list()) {
                attribute.ints.clear();
                attribute.bools.clear();
                attribute.strings.clear();
                attribute.versions.clear();
            }
        }
    }

    /// Reports errors in the device. Parts that equal those of `old` are not checked again.
    pub(in crate::resource::v1) fn check(&self, old: Option<&Device>, per_device: bool, errors: &mut FieldErrors) {
        check_label("name", &self.name, errors);
        let count = self.attributes.len() + self.capacity.len();
        if count > MAX_ATTRIBUTES {
            let detail = format!("the total number of attributes and capacities must not exceed {MAX_ATTRIBUTES}");
            errors.invalid("", count, detail);
        }
        let count: usize = self.attributes.values().map(DeviceAttribute::count).sum();
        if count > MAX_VALUES {
            let detail = format!("the total number of attribute values must not exceed {MAX_VALUES}");
            errors.invalid("", count, detail);
        }
        for (key, attribute) in &self.attributes {
            check_qualified("attributes", key, errors);
            attribute.check(&mut errors.at_key("attributes", &shortened(key, MAX_KEY)));
        }
        let shared = self.allow_multiple_allocations == Some(true);
        for (key, capacity) in &self.capacity {
            check_qualified("capacity", key, errors);
            capacity.check(shared, &mut errors.at_key("capacity", &shortened(key, MAX_KEY)));
        }
        if old.is_none_or(|old| old.taints != self.taints) {
            check_each("taints", &self.taints, MAX_TAINTS, errors, |taint, errors| {
                taint.check(None, errors);
            });
        }
        check_named(
            "consumesCounters",
            &self.consumes_counters,
            MAX_CONSUMED_SETS,
            |consumed| &consumed.counter_set,
            errors,
            |consumed, errors| consumed.check(errors),
        );
        if per_device {
            self.check_nodes(errors);
        } else if self.node_name.is_some() || self.node_selector.is_some() || self.all_nodes.is_some() {
            let detail = "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set \
                          to true in the ResourceSlice spec";
            errors.invalid("", Json("null"), detail);
        }
        check_binding_conditions(&self.binding_conditions, &self.binding_failure_conditions, errors);
    }
}

impl Device {
    /// True if the device uses features that lower the maximum number of devices of a slice.
    pub(in crate::resource::v1) fn is_advanced(&self) -> bool {
        let lists = self.attributes.values().any(DeviceAttribute::has_list);
        lists || !self.taints.is_empty() || !self.consumes_counters.is_empty()
    }
}

impl DeviceAttribute {
    /// Returns the number of values in lists.
    fn listed(&self) -> usize {
        self.ints.len() + self.bools.len() + self.strings.len() + self.versions.len()
    }

    fn has_list(&self) -> bool {
        self.listed() > 0
    }

    /// Returns the number of values that the attribute counts for.
    fn count(&self) -> usize {
        self.listed().max(1)
    }

    fn check(&self, errors: &mut FieldErrors) {
        const ONE: &str = "exactly one value must be specified";
        if let Some(text) = &self.string {
            check_text("string", text, errors);
        }
        if let Some(version) = &self.version {
            check_version("version", version, errors);
        }
        for (index, text) in self.strings.iter().enumerate() {
            check_text("", text, &mut errors.at_index("strings", index));
        }
        for (index, version) in self.versions.iter().enumerate() {
            check_version("", version, &mut errors.at_index("versions", index));
        }
        let given = [
            self.int.is_some(),
            self.bool.is_some(),
            self.string.is_some(),
            self.version.is_some(),
            !self.ints.is_empty(),
            !self.bools.is_empty(),
            !self.strings.is_empty(),
            !self.versions.is_empty(),
        ];
        match given.iter().filter(|given| **given).count() {
            0 => errors.invalid("", "", ONE),
            1 => {}
            _ => errors.invalid("", GoValue(self), ONE),
        }
    }
}

fn check_text(field: &str, text: &str, errors: &mut FieldErrors) {
    if text.len() > MAX_VALUE {
        errors.too_long(field, MAX_VALUE as u64);
    }
}

fn check_version(field: &str, version: &str, errors: &mut FieldErrors) {
    if !crate::semantic_version::is_version(version) {
        errors.invalid(field, version, "must be a string compatible with semver.org spec 2.0.0");
    }
    check_text(field, version, errors);
}

impl DeviceTaint {
    /// Reports errors in the taint. An effect that equals the one of `old` is not checked again.
    pub(crate) fn check(&self, old: Option<&DeviceTaint>, errors: &mut FieldErrors) {
        let old = old.map(|old| old.effect.as_str());
        check_mark(&self.key, &self.value, &self.effect, old, errors);
    }
}

/// Reports errors in the fields of a taint.
pub(crate) fn check_mark(key: &str, value: &str, effect: &str, old_effect: Option<&str>, errors: &mut FieldErrors) {
    check_label_name("key", key, errors);
    for problem in names::label_value(value) {
        errors.invalid("value", value, problem);
    }
    if old_effect == Some(effect) {
        return;
    }
    match effect {
        "" => errors.required("effect", ""),
        effect if EFFECTS.contains(&effect) => {}
        effect => errors.not_supported("effect", effect, &EFFECTS),
    }
}
