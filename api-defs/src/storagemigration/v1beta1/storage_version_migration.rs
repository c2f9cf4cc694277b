//! Migrations of stored objects.

mod columns;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::meta::{Condition, GroupResource, ObjectMeta};
use planesmith_machinery::names;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::validation::check_conditions;
use planesmith_machinery::value::Value;
use planesmith_machinery::{Resource, Struct};

/// A request to rewrite all stored objects of a resource in the current storage version.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "storagemigration.k8s.io",
    version = "v1beta1",
    feature = crate::features::STORAGE_VERSION_MIGRATOR,
    cluster,
    status,
    status_resets("metadata"),
    conditional_update,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name = "Name", type = "string", doc = "Name of the migration.", with = columns::name),
    column(name = "Resource", type = "string", doc = "The resource to migrate.", with = columns::resource),
    column(name = "Status", type = "string", doc = "Current state.", with = columns::status)
)]
pub struct StorageVersionMigration {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The resource to migrate. Immutable.
    #[field(proto = 2)]
    pub spec: StorageVersionMigrationSpec,
    /// State of the migration.
    #[field(proto = 3)]
    pub status: StorageVersionMigrationStatus,
}

/// The resource that is migrated.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StorageVersionMigrationSpec {
    /// The resource to migrate.
    #[field(proto = 1, keep)]
    pub resource: GroupResource,
}

/// State of a migration.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct StorageVersionMigrationStatus {
    /// Conditions: Running, Succeeded or Failed.
    #[field(proto = 1, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<Condition>,
    /// Resource version of the list at the start of the migration.
    #[field(proto = 2)]
    pub resource_version: String,
}

impl Strategy for StorageVersionMigration {
    fn prepare_for_status_update(&mut self, _: &Context<'_>, old: &Self) {
        self.metadata.keep_for_status(&old.metadata);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        let errors = &mut *errors.at("spec.resource");
        let wanted = &self.spec.resource;
        if wanted.resource.is_empty() {
            errors.required("resource", "resource is required to be set");
        } else {
            let problems = names::dns_label_1035(&wanted.resource);
            if !problems.is_empty() {
                errors.invalid("resource", &wanted.resource, problems.join(","));
            }
        }
        if !wanted.group.is_empty() {
            let problems = names::dns_subdomain(&wanted.group);
            if !problems.is_empty() {
                errors.invalid("group", &wanted.group, problems.join(","));
            }
        }
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if self.spec != old.spec {
            errors.invalid("spec", GoValue(&self.spec), "field is immutable");
        }
    }

    fn validate_status_update(&self, old: &Self, errors: &mut FieldErrors) {
        let errors = &mut *errors.at("status");
        let version = &self.status.resource_version;
        if !version.is_empty()
            && let Some(problem) = version_problem(version)
        {
            errors.invalid("resourceVersion", version, problem);
        }
        check_conditions(errors, "conditions", &self.status.conditions);
        if !old.status.resource_version.is_empty() && old.status.resource_version != *version {
            errors.invalid("resourceVersion", version, "field is immutable");
        }
        self.status.check_outcome(&old.status, errors);
    }
}

impl StrategyExtensions for StorageVersionMigration {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_FIRST;
}

impl StorageVersionMigrationStatus {
    fn has(&self, type_: &str) -> bool {
        let mut conditions = self.conditions.iter();
        conditions.any(|condition| condition.r#type == type_ && condition.status == "True")
    }

    /// Reports outcomes that contradict each other or are withdrawn.
    fn check_outcome(&self, old: &Self, errors: &mut FieldErrors) {
        let [succeeded, failed] = ["Succeeded", "Failed"].map(|type_| self.has(type_));
        let problems = [
            (
                succeeded && failed,
                "Both success and failed conditions cannot be true at the same time",
            ),
            (
                old.has("Succeeded") && !succeeded,
                "Success condition cannot be set to false once it is true",
            ),
            (
                old.has("Failed") && !failed,
                "Failed condition cannot be set to false once it is true",
            ),
        ];
        for (_, problem) in problems.into_iter().filter(|(found, _)| *found) {
            errors.invalid("conditions", &self.conditions as &dyn Value, problem);
        }
    }
}

/// Returns the error if `version`, which is not empty, is no resource version of an object; `None` when it is legal.
fn version_problem(version: &str) -> Option<String> {
    let numeric = version.bytes().all(|byte| byte.is_ascii_digit());
    (!numeric || version.starts_with('0')).then(|| format!("resource version is not well formed: {version}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn migration(version: &str, outcomes: &[&str]) -> StorageVersionMigration {
        let mut migration = StorageVersionMigration::default();
        version.clone_into(&mut migration.status.resource_version);
        migration.status.conditions = outcomes.iter().map(|type_| outcome(type_)).collect();
        migration
    }

    fn outcome(type_: &str) -> Condition {
        Condition {
            r#type: type_.to_owned(),
            status: "True".to_owned(),
            reason: "Seen".to_owned(),
            last_transition_time: "2024-01-02T03:04:05Z".parse().expect("a time"),
            ..Condition::default()
        }
    }

    fn problems(new: &StorageVersionMigration, old: &StorageVersionMigration) -> Vec<String> {
        let mut errors = FieldErrors::default();
        new.validate_status_update(old, &mut errors);
        errors.as_slice().iter().map(|error| error.field.clone()).collect()
    }

    #[test]
    fn a_migration_that_has_not_begun_has_no_version() {
        let none = migration("", &[]);
        assert!(problems(&none, &none).is_empty());
        assert_eq!(problems(&migration("x", &[]), &none), ["status.resourceVersion"]);
        assert_eq!(problems(&none, &migration("7", &[])), ["status.resourceVersion"]);
    }

    #[test]
    fn only_success_and_failure_exclude_each_other() {
        let old = migration("", &[]);
        assert!(problems(&migration("", &["Running", "Succeeded"]), &old).is_empty());
        assert!(problems(&migration("", &["Running", "Failed"]), &old).is_empty());
        let both = migration("", &["Succeeded", "Failed"]);
        assert_eq!(problems(&both, &old), ["status.conditions"]);
    }
}
