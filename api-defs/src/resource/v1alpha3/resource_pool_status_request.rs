//! Requests for the status of device pools.

mod columns;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::meta::Condition;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::names;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::validation::check_conditions;
use planesmith_machinery::{Resource, Struct};

/// A request for the status of device pools. The server writes the result once.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "resource.k8s.io",
    version = "v1alpha3",
    cluster,
    status,
    status_resets("metadata"),
    conditional_update,
    returns_deleted,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Driver", type = "string", doc = "The driver of the pools.", path = "spec.driver"),
    column(name = "Total", type = "string", doc = "Number of devices of the pools.", with = columns::total),
    column(name = "Available", type = "string", doc = "Number of available devices.", with = columns::available),
    column(name = "Allocated", type = "string", doc = "Number of allocated devices.", with = columns::allocated),
    column(name = "Unavailable", type = "string", doc = "Number of unavailable devices.", with = columns::unavailable),
    column(name = "Errors", type = "string", doc = "Number of pools without counts.", with = columns::errors),
    column(name = "Pools", type = "integer", doc = "Number of matching pools.", with = columns::pools),
    column(name = "Status", type = "string", doc = "Outcome of the request.", with = columns::status),
    column(name = "Completed", type = "string", doc = "Time since the completion.", with = columns::completed)
)]
pub struct ResourcePoolStatusRequest {
    /// Standard metadata.
    #[field(proto = 1, expected)]
    pub metadata: ObjectMeta,
    /// The requested pools. Immutable.
    #[field(proto = 2, keep)]
    pub spec: ResourcePoolStatusRequestSpec,
    /// Result of the request. Absent until it has been processed.
    #[field(proto = 3)]
    pub status: Option<ResourcePoolStatusRequestStatus>,
}

/// The pools that a request selects.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourcePoolStatusRequestSpec {
    /// Driver of the pools.
    #[field(proto = 1, keep)]
    pub driver: String,
    /// Name of one pool. All pools of the driver when absent.
    #[field(proto = 2)]
    pub pool_name: Option<String>,
    /// Maximum number of pools in the status, 1 to 1000.
    #[field(proto = 3, default = 100)]
    pub limit: Option<i32>,
}

/// Status of the requested pools.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourcePoolStatusRequestStatus {
    /// Number of matching pools, including those that are left out of the status.
    #[field(proto = 6, expected)]
    pub pool_count: Option<i32>,
    /// The first pools, sorted by driver and name.
    #[field(proto = 2, list_type = atomic)]
    pub pools: Vec<PoolStatus>,
    /// Conditions: Complete or Failed.
    #[field(proto = 3, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<Condition>,
}

/// Status of a pool.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PoolStatus {
    /// Driver of the pool.
    #[field(proto = 1, expected)]
    pub driver: String,
    /// Name of the pool.
    #[field(proto = 2, expected)]
    pub pool_name: String,
    /// Generation of the pool.
    #[field(proto = 9, keep)]
    pub generation: i64,
    /// Number of slices of the pool.
    #[field(proto = 8)]
    pub resource_slice_count: Option<i32>,
    /// Number of devices of the pool.
    #[field(proto = 4)]
    pub total_devices: Option<i32>,
    /// Number of devices that are allocated to claims.
    #[field(proto = 5)]
    pub allocated_devices: Option<i32>,
    /// Number of devices that are available.
    #[field(proto = 6)]
    pub available_devices: Option<i32>,
    /// Number of devices that cannot be used.
    #[field(proto = 7)]
    pub unavailable_devices: Option<i32>,
    /// Name of the node that the pool belongs to.
    #[field(proto = 3)]
    pub node_name: Option<String>,
    /// Reason why the numbers are missing.
    #[field(proto = 10)]
    pub validation_error: Option<String>,
}

/// Maximum of `limit`.
const MAX_LIMIT: i32 = 1000;
/// Maximum length of the name of a pool, in bytes.
const MAX_POOL_NAME: u64 = 253;

impl Strategy for ResourcePoolStatusRequest {
    fn prepare_for_status_update(&mut self, _: &Context<'_>, old: &Self) {
        self.metadata.keep_for_status(&old.metadata);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        let errors = &mut *errors.at("spec");
        let spec = &self.spec;
        check_driver(&spec.driver, errors);
        if let Some(pool) = &spec.pool_name {
            check_pool(pool, errors);
        }
        match spec.limit {
            Some(limit @ ..1) => {
                errors.invalid("limit", limit, "must be greater than or equal to 1");
            }
            Some(limit) if limit > MAX_LIMIT => {
                errors.invalid("limit", limit, format!("must be less than or equal to {MAX_LIMIT}"));
            }
            _ => {}
        }
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if self.spec != old.spec {
            errors.immutable("spec");
        }
    }

    fn validate_status_update(&self, old: &Self, errors: &mut FieldErrors) {
        // A result is immutable.
        if old.status.is_some() {
            if self.status != old.status {
                errors.invalid("status", GoValue(&self.status), "field is immutable");
            }
            return;
        }
        let Some(status) = &self.status else { return };
        let errors = &mut *errors.at("status");
        check_conditions(errors, "conditions", &status.conditions);
        match status.pool_count {
            None => errors.required("poolCount", ""),
            Some(count @ ..0) => errors.invalid("poolCount", count, "must be greater than or equal to 0"),
            Some(_) => {}
        }
        if status.pools.len() > MAX_LIMIT as usize {
            errors.too_many("pools", status.pools.len(), MAX_LIMIT as u64);
        }
        for (index, pool) in status.pools.iter().enumerate() {
            pool.check(&mut errors.at_index("pools", index));
        }
    }
}

impl StrategyExtensions for ResourcePoolStatusRequest {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_ONLY;
}

impl PoolStatus {
    fn check(&self, errors: &mut FieldErrors) {
        check_driver(&self.driver, errors);
        match self.pool_name.as_str() {
            "" => errors.required("poolName", ""),
            pool => check_pool(pool, errors),
        }
        match self.generation {
            0 => errors.required("generation", ""),
            ..0 => errors.invalid("generation", self.generation, "must be greater than or equal to 0"),
            1.. => {}
        }
        let counts = [
            ("resourceSliceCount", self.resource_slice_count, 1),
            ("totalDevices", self.total_devices, 0),
            ("allocatedDevices", self.allocated_devices, 0),
            ("availableDevices", self.available_devices, 0),
            ("unavailableDevices", self.unavailable_devices, 0),
        ];
        for (field, count, least) in counts {
            if let Some(count) = count
                && count < least
            {
                errors.invalid(field, count, format!("must be greater than or equal to {least}"));
            }
        }
        if let Some(node) = &self.node_name {
            for problem in names::long_name(node) {
                errors.invalid("nodeName", node, problem);
            }
        }
    }
}

/// Reports errors in the name of a driver.
fn check_driver(driver: &str, errors: &mut FieldErrors) {
    if driver.is_empty() {
        return errors.required("driver", "");
    }
    for problem in names::long_name_caseless(driver) {
        errors.invalid("driver", driver, problem);
    }
}

/// Reports errors in the name of a pool: subdomains joined by slashes.
fn check_pool(pool: &str, errors: &mut FieldErrors) {
    if pool.len() as u64 > MAX_POOL_NAME {
        errors.too_long("poolName", MAX_POOL_NAME);
    }
    for (index, segment) in pool.split('/').enumerate() {
        match segment {
            "" => errors.invalid("poolName", pool, format!("segment {index}: must not be empty")),
            segment => {
                for problem in names::long_name(segment) {
                    errors.invalid("poolName", segment, format!("segment {index}: {problem}"));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn messages(spec: Value) -> Vec<String> {
        let request = ResourcePoolStatusRequest {
            spec: serde_json::from_value(spec).unwrap(),
            ..ResourcePoolStatusRequest::default()
        };
        let mut errors = FieldErrors::default();
        request.validate(&mut errors);
        errors.as_slice().iter().map(|error| error.message()).collect()
    }

    #[track_caller]
    fn check(spec: Value, expected: &[&str]) {
        let found = messages(spec);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}");
        }
    }

    #[test]
    fn drivers_have_letters_of_either_case() {
        check(json!({"driver": "GPU.Example.com"}), &[]);
        check(json!({"driver": ""}), &["spec.driver: Required value"]);
        check(
            json!({"driver": "-"}),
            &["spec.driver: Invalid value: \"-\": an RFC 1123 subdomain must consist of alphanumeric characters, "],
        );
    }

    #[test]
    fn segments_of_pools_are_checked_one_by_one() {
        check(json!({"driver": "d", "poolName": "node-1/gpus"}), &[]);
        check(
            json!({"driver": "d", "poolName": "A//b"}),
            &[
                "spec.poolName: Invalid value: \"A\": segment 0: a lowercase RFC 1123 subdomain must consist of",
                "spec.poolName: Invalid value: \"A//b\": segment 1: must not be empty",
            ],
        );
    }

    #[test]
    fn the_error_of_a_changed_request_has_no_value() {
        let old = ResourcePoolStatusRequest::default();
        let mut new = old.clone();
        new.spec.driver = "d".to_owned();
        let mut errors = FieldErrors::default();
        new.validate_update(&old, &mut errors);
        assert_eq!(
            errors.joined().unwrap(),
            "spec: Invalid value: null: field is immutable"
        );
    }
}
