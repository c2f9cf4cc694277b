//! Table columns of migrations.

use planesmith_machinery::table::Cell;

use super::StorageVersionMigration;

pub(super) fn name(migration: &StorageVersionMigration) -> Cell {
    Cell::Text(migration.metadata.name.clone())
}

pub(super) fn resource(migration: &StorageVersionMigration) -> Cell {
    let wanted = &migration.spec.resource;
    Cell::Text(match wanted.group.as_str() {
        "" => wanted.resource.clone(),
        group => format!("{}.{group}", wanted.resource),
    })
}

/// Renders the type of the last condition with status True.
pub(super) fn status(migration: &StorageVersionMigration) -> Cell {
    let outcomes = ["Running", "Failed", "Succeeded"];
    let mut conditions = migration.status.conditions.iter();
    let found = conditions.rfind(|seen| seen.status == "True" && outcomes.contains(&seen.r#type.as_str()));
    Cell::Text(found.map_or_else(|| "Unknown".to_owned(), |condition| condition.r#type.clone()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_migration_shows_what_it_migrates_and_how_far_it_is() {
        let mut migration: StorageVersionMigration = serde_json::from_value(json!({
            "spec": {"resource": {"group": "apps", "resource": "deployments"}},
            "status": {"conditions": [
                {"type": "Running", "status": "False"},
                {"type": "Succeeded", "status": "True"},
                {"type": "Other", "status": "True"},
            ]},
        }))
        .unwrap();
        assert_eq!(resource(&migration), Cell::Text("deployments.apps".to_owned()));
        assert_eq!(status(&migration), Cell::Text("Succeeded".to_owned()));
        migration.spec.resource.group.clear();
        migration.status.conditions.clear();
        assert_eq!(resource(&migration), Cell::Text("deployments".to_owned()));
        assert_eq!(status(&migration), Cell::Text("Unknown".to_owned()));
    }
}
