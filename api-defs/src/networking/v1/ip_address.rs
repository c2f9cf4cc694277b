//! Allocated IP addresses.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::table::Cell;
use planesmith_machinery::{Resource, Struct, names};

use super::reference::check_path_segment;

/// An allocated IP address, whose canonical form is the name of the object. The server creates them for services.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "networking.k8s.io", version = "v1", cluster, short("ip"), name_rule = ip_address, strategy, strategy_extensions)]
#[resource(
    column(name),
    column(name = "ParentRef", type = "string", doc = "Owner of the address.", with = parent_cell),
    column(name = "", type = "string", path = "metadata.creationTimestamp")
)]
pub struct IPAddress {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The object that owns the address.
    #[field(proto = 2, expected)]
    pub spec: IPAddressSpec,
}

/// Owner of an IP address.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct IPAddressSpec {
    /// Reference to the owner of the address. Immutable.
    #[field(proto = 1, expected)]
    pub parent_ref: Option<ParentReference>,
}

/// Reference to an object by its resource.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ParentReference {
    /// API group of the object.
    #[field(proto = 1)]
    pub group: String,
    /// Resource of the object, such as services.
    #[field(proto = 2, expected)]
    pub resource: String,
    /// Namespace of the object.
    #[field(proto = 3)]
    pub namespace: String,
    /// Name of the object.
    #[field(proto = 4, expected)]
    pub name: String,
}

fn parent_cell(address: &IPAddress) -> Cell {
    let Some(parent) = &address.spec.parent_ref else {
        return Cell::Text("<none>".to_owned());
    };
    let mut text = parent.resource.clone();
    if !parent.group.is_empty() {
        text.push('.');
        text.push_str(&parent.group);
    }
    let mut text = text.to_lowercase();
    for part in [&parent.namespace, &parent.name] {
        if !part.is_empty() || std::ptr::eq(part, &parent.name) {
            text.push('/');
            text.push_str(part);
        }
    }
    Cell::Text(text)
}

impl Strategy for IPAddress {
    fn validate(&self, errors: &mut FieldErrors) {
        match &self.spec.parent_ref {
            None => errors.required("spec.parentRef", ""),
            Some(parent) => parent.check(&mut errors.at("spec.parentRef")),
        }
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        let parent = &self.spec.parent_ref;
        if *parent != old.spec.parent_ref {
            errors.invalid("spec.parentRef", GoValue(parent), "field is immutable");
        }
    }
}

impl StrategyExtensions for IPAddress {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_FIRST;
}

impl ParentReference {
    fn check(&self, errors: &mut FieldErrors) {
        if !self.group.is_empty() {
            for complaint in names::dns_subdomain(&self.group) {
                errors.invalid("group", &self.group, complaint);
            }
        }
        check_path_segment("resource", &self.resource, errors);
        check_path_segment("name", &self.name, errors);
        if !self.namespace.is_empty() {
            check_path_segment("namespace", &self.namespace, errors);
        }
    }
}
