//! Stores objects of other versions in the storage version, as Kubernetes' storage version migrator does on request.

use std::time::Duration;

use planesmith_machinery::status::ApiError;
use planesmith_server::shutdown::Shutdown;
use planesmith_server::stores::{StorageMigration, Stores};

/// The number of objects between two log lines about a migration.
const PROGRESS: usize = 5_000;

/// The first and the longest pause after a write that the store refused.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// The migrations of all kinds with objects in another version.
pub(super) struct StorageMigrator {
    migrations: Vec<StorageMigration>,
}

impl StorageMigrator {
    /// The migrations that the objects in `stores` need; `None` when all are in their storage version. Objects that cannot be
    /// read are reported to the log and stay as they are.
    pub(super) fn new(stores: &Stores) -> Option<Self> {
        let mut migrations = Vec::new();
        for hub in stores
            .scheme()
            .iter()
            .filter(|facts| facts.is_hub() && facts.behavior.is_stored())
        {
            let store = stores.resource(hub);
            let unreadable = store.unreadable();
            if let Some((key, reason)) = unreadable.first() {
                tracing::error!(
                    kind = %hub.group_kind(),
                    objects = unreadable.len(),
                    first = &**key,
                    reason,
                    "objects in the store cannot be read; they are kept, and readers of the kind get an error"
                );
            }
            let migration = store.migration();
            if migration.left() > 0 {
                migrations.push(migration);
            }
        }
        (!migrations.is_empty()).then_some(Self { migrations })
    }

    /// Writes one object at a time, so that the writes of clients wait for one of these at most.
    pub(super) async fn run(self, mut shutdown: Shutdown) {
        for mut migration in self.migrations {
            let kind = migration.store().facts().group_kind();
            let version = migration.store().facts().version.clone();
            tracing::info!(%kind, %version, objects = migration.left(), "storage migration begins");
            let mut pause = PAUSES.0;
            while migration.left() > 0 {
                if shutdown.is_requested() {
                    return;
                }
                let before = migration.left();
                match migration.step().await {
                    Ok(_) => pause = PAUSES.0,
                    Err(error) => {
                        report(&kind.to_string(), &error);
                        tokio::select! {
                            () = shutdown.requested() => return,
                            () = tokio::time::sleep(pause) => {}
                        }
                        pause = (pause * 2).min(PAUSES.1);
                    }
                }
                if before != migration.left() && migration.left().is_multiple_of(PROGRESS) {
                    tracing::info!(%kind, left = migration.left(), rewritten = migration.rewritten(), "storage migration");
                }
            }
        }
    }
}

fn report(kind: &str, error: &ApiError) {
    tracing::warn!(
        kind,
        error = error.message(),
        "storage migration waits: an object could not be stored"
    );
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use planesmith_machinery::json;
    use planesmith_machinery::object::Object;
    use planesmith_machinery::resource::ResourceFacts;
    use planesmith_machinery::scheme::Scheme;
    use planesmith_server::shutdown::Stop;
    use planesmith_server::stores::row_of;
    use planesmith_store::{Draft, Expect, MemoryLog, Op, Storage, StorageOptions};

    use super::*;

    /// A program that stores v1beta1.
    mod old {
        use planesmith_machinery::Resource;
        use planesmith_machinery::meta::ObjectMeta;

        /// A crate.
        #[derive(Clone, Debug, Default, PartialEq, Resource)]
        #[resource(group = "test.example.com", version = "v1beta1")]
        pub(super) struct Crate {
            /// Metadata.
            pub(super) metadata: ObjectMeta,
            /// The label on it.
            pub(super) title: String,
        }
    }

    /// A program that stores v1.
    mod new {
        use planesmith_machinery::Resource;
        use planesmith_machinery::meta::ObjectMeta;

        /// A crate, as it was.
        #[derive(Clone, Debug, Default, PartialEq, Resource)]
        #[resource(group = "test.example.com", version = "v1beta1", kind = "Crate", plural = "crates", storage_version = Crate)]
        pub(super) struct Older {
            /// Metadata.
            pub(super) metadata: ObjectMeta,
            /// The label on it.
            #[field(moved_to = "heading")]
            pub(super) title: String,
        }

        /// A crate.
        #[derive(Clone, Debug, Default, PartialEq, Resource)]
        #[resource(group = "test.example.com", version = "v1")]
        pub(super) struct Crate {
            /// Metadata.
            pub(super) metadata: ObjectMeta,
            /// The label on it.
            pub(super) heading: String,
        }
    }

    fn stores(log: &MemoryLog, kinds: &[&ResourceFacts]) -> Stores {
        let storage = Storage::open(log.clone(), &StorageOptions::default()).unwrap();
        let mut scheme = Scheme::new();
        for kind in kinds {
            scheme.add_facts(kind);
        }
        Stores::new(storage, Arc::new(scheme))
    }

    #[tokio::test]
    async fn objects_of_other_versions_are_stored_in_the_storage_version() {
        use planesmith_machinery::object::Resource as _;

        let log = MemoryLog::new();
        let before = stores(&log, &[old::Crate::RESOURCE]);
        let mut object = old::Crate {
            title: "Apples".to_owned(),
            ..old::Crate::default()
        };
        object.metadata.name = "a".to_owned();
        let store = before.resource(old::Crate::RESOURCE);
        let encoded = json::encode_for_storage(&object);
        let op = Op::Put {
            key: store.key("n", "a").unwrap().as_str().into(),
            draft: Draft::new(encoded.bytes, encoded.gap),
            row: row_of(&object as &dyn Object),
            expect: Expect::Absent,
            ttl: None,
        };
        store.collection().write(op).await.unwrap();
        assert!(StorageMigrator::new(&before).is_none());
        before.storage().close().await;
        let now = stores(&log, &[new::Older::RESOURCE, new::Crate::RESOURCE]);
        let (_stop, shutdown) = Stop::new();
        StorageMigrator::new(&now).expect("an object").run(shutdown).await;
        assert!(StorageMigrator::new(&now).is_none());
        now.storage().close().await;
        let later = stores(&log, &[new::Crate::RESOURCE]);
        assert_eq!(
            later.resource(new::Crate::RESOURCE).all::<new::Crate>()[0].heading,
            "Apples"
        );
    }
}
