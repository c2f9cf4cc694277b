//! The nodes that can access the devices of a slice, or a device.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::names;
use planesmith_machinery::validation::SelectorValues;

use super::super::Device;
use super::ResourceSliceSpec;
use crate::core::v1::NodeSelector;

/// Fields of which exactly one selects the nodes.
#[derive(Default)]
struct Choice {
    given: Vec<&'static str>,
}

impl Choice {
    fn node(&mut self, name: Option<&str>, when_empty: &str, errors: &mut FieldErrors) {
        match name {
            None => {}
            Some("") => errors.invalid("nodeName", "", when_empty),
            Some(name) => {
                self.given.push("`nodeName`");
                for problem in names::dns_subdomain(name) {
                    errors.invalid("nodeName", name, problem);
                }
            }
        }
    }

    fn selector(&mut self, selector: Option<&NodeSelector>, errors: &mut FieldErrors) {
        if let Some(selector) = selector {
            self.given.push("`nodeSelector`");
            selector.check(SelectorValues::Legal, &mut errors.at("nodeSelector"));
        }
    }

    fn flag(&mut self, field: &str, quoted: &'static str, value: Option<bool>, errors: &mut FieldErrors) {
        match value {
            None => {}
            Some(true) => self.given.push(quoted),
            Some(false) => errors.invalid(field, false, "must be either unset or set to true"),
        }
    }

    fn finish(&self, none: &str, several: &str, errors: &mut FieldErrors) {
        match self.given.len() {
            0 => errors.required("", none),
            1 => {}
            _ => errors.invalid("", format!("{{{}}}", self.given.join(", ")), several),
        }
    }
}

impl ResourceSliceSpec {
    /// Reports an error unless exactly one field selects the nodes that can access the devices.
    pub(super) fn check_nodes(&self, errors: &mut FieldErrors) {
        const ONE: &str = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
        let mut choice = Choice::default();
        let unset = "must be either unset or set to a non-empty string";
        choice.node(self.node_name.as_deref(), unset, errors);
        choice.selector(self.node_selector.as_ref(), errors);
        if let Some(selector) = &self.node_selector
            && selector.node_selector_terms.len() != 1
        {
            let terms = GoValue(&selector.node_selector_terms);
            let detail = "must have exactly one node selector term";
            errors.invalid("nodeSelector.nodeSelectorTerms", terms, detail);
        }
        choice.flag("allNodes", "`allNodes`", self.all_nodes, errors);
        choice.flag(
            "perDeviceNodeSelection",
            "`perDeviceNodeSelection`",
            self.per_device_node_selection,
            errors,
        );
        choice.finish(ONE, &format!("{ONE}, but multiple fields are set"), errors);
    }
}

impl Device {
    /// Reports an error unless exactly one field selects the nodes that can access the device.
    pub(in crate::resource::v1) fn check_nodes(&self, errors: &mut FieldErrors) {
        const ONE: &str = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when \
                           `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
        let mut choice = Choice::default();
        choice.node(self.node_name.as_deref(), "must not be empty", errors);
        choice.selector(self.node_selector.as_ref(), errors);
        choice.flag("allNodes", "`allNodes`", self.all_nodes, errors);
        choice.finish(ONE, ONE, errors);
    }
}
