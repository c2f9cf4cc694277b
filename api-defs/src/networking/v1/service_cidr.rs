//! IP ranges of services.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::meta::{Condition, ObjectMeta};
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::table::Cell;
use planesmith_machinery::{Resource, Struct, ip};

const IMMUTABLE: &str = "field is immutable";

/// One IP range, or one for each IP family, from which addresses of services are allocated. The server creates the
/// first object, named kubernetes, from its flags.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "networking.k8s.io",
    version = "v1",
    cluster,
    status,
    status_resets("metadata"),
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "CIDRs", type = "string", doc = "The ranges.", with = cidrs_cell),
    column(age)
)]
pub struct ServiceCIDR {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The IP ranges.
    #[field(proto = 2)]
    pub spec: ServiceCIDRSpec,
    /// Observed state.
    #[field(proto = 3)]
    pub status: ServiceCIDRStatus,
}

/// IP ranges of a ServiceCIDR.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ServiceCIDRSpec {
    /// One range, or one for each IP family. Immutable, except that a second one can be added.
    #[field(proto = 1, list_type = atomic, go_name = "CIDRs")]
    pub cidrs: Vec<String>,
}

/// Observed state of a ServiceCIDR.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ServiceCIDRStatus {
    /// Conditions. Ready is True if addresses can be allocated from the ranges.
    #[field(proto = 1, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<Condition>,
}

fn cidrs_cell(ranges: &ServiceCIDR) -> Cell {
    Cell::Text(ranges.spec.cidrs.join(","))
}

impl Strategy for ServiceCIDR {
    fn prepare_for_status_update(&mut self, _: &Context<'_>, old: &Self) {
        self.metadata.keep_for_status(&old.metadata);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(errors);
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        let (new, old) = (&self.spec.cidrs, &old.spec.cidrs);
        let added = old.len() == 1 && new.len() == 2;
        if new.len() != old.len() && !added {
            return errors.invalid("spec.cidrs", new.as_slice(), IMMUTABLE);
        }
        for (index, (new, _)) in new.iter().zip(old).enumerate().filter(|(_, (new, old))| new != old) {
            errors.at_index("spec.cidrs", index).invalid("", new, IMMUTABLE);
        }
        if added {
            self.spec.check(errors);
        }
    }
}

impl StrategyExtensions for ServiceCIDR {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_ONLY;
}

impl ServiceCIDRSpec {
    fn check(&self, errors: &mut FieldErrors) {
        let errors = &mut *errors.at("spec");
        match self.cidrs.len() {
            0 => return errors.required("cidrs", "at least one CIDR required"),
            1 | 2 => {}
            _ => return errors.invalid("cidrs", GoValue(self), "may only hold up to 2 values"),
        }
        for (index, range) in self.cidrs.iter().enumerate() {
            for complaint in ip::check_range(range) {
                errors.at_index("cidrs", index).invalid("", range, complaint);
            }
        }
        let family = |range: &String| ip::parse_range(range).map(|(_, range)| range.family());
        if let [first, second] = self.cidrs.as_slice()
            && family(first).is_some()
            && family(first) == family(second)
        {
            let complaint = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
            errors.invalid("cidrs", self.cidrs.as_slice(), complaint);
        }
    }
}
