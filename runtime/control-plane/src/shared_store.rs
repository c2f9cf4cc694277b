//! A store in which other servers write, too, as a component opens it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use planesmith_machinery::scheme::StorageMediaType;
use planesmith_server::health::HealthCheck;
use planesmith_store::Storage;
use planesmith_store::backend::Backend;

/// An open store in which other servers write, too.
#[derive(Clone)]
pub struct SharedStore {
    /// The store.
    pub storage: Storage,
    /// The same store, as health checks use it.
    pub backend: Arc<dyn Backend>,
    /// The place of the objects, for people: `etcd at https://192.0.2.1:2379`.
    pub place: String,
    /// The encoding of objects that are written.
    pub media_type: StorageMediaType,
    /// Maximum time of the check `etcd`.
    pub health_timeout: Duration,
    /// Maximum time of the check `etcd-readiness`.
    pub ready_timeout: Duration,
}

impl SharedStore {
    /// Returns the checks of the store, with the names that they have in kube-apiserver. They ask the store itself.
    pub(crate) fn checks(&self) -> [HealthCheck; 2] {
        [
            self.check("etcd", self.health_timeout),
            self.check("etcd-readiness", self.ready_timeout).only_ready(),
        ]
    }

    fn check(&self, name: &'static str, timeout: Duration) -> HealthCheck {
        let backend = Arc::clone(&self.backend);
        HealthCheck::waiting(name, move || {
            let backend = Arc::clone(&backend);
            async move {
                match tokio::time::timeout(timeout, backend.health()).await {
                    Ok(health) => health.map_err(|error| error.to_string()),
                    Err(_) => Err(format!("no answer in {} s", timeout.as_secs_f64())),
                }
            }
        })
    }
}

impl fmt::Debug for SharedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedStore")
            .field("place", &self.place)
            .field("media_type", &self.media_type)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use planesmith_store::StorageOptions;
    use planesmith_store::conformance::{REGISTRY, SeveralWriters};

    use super::*;

    #[tokio::test]
    async fn the_store_has_the_checks_of_kube_apiserver() {
        let backend = Arc::new(SeveralWriters::default());
        let shared = Arc::clone(&backend) as Arc<dyn Backend>;
        let options = StorageOptions::default();
        let storage = Storage::connect(shared, REGISTRY, &options);
        let store = SharedStore {
            storage: storage.await.unwrap(),
            backend,
            place: "memory".to_owned(),
            media_type: StorageMediaType::Protobuf,
            health_timeout: Duration::from_secs(2),
            ready_timeout: Duration::from_secs(2),
        };
        let checks = store.checks();
        let names: Vec<&str> = checks.iter().map(HealthCheck::name).collect();
        assert_eq!(names, ["etcd", "etcd-readiness"]);
    }
}
