//! The relations of nodes and objects, as they are stored.

use std::borrow::Cow;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use planesmith_access::admission::Lister;
use planesmith_api_defs::certificates::v1beta1::PodCertificateRequest;
use planesmith_api_defs::core::v1::{PersistentVolume, Pod};
use planesmith_api_defs::resource::v1::ResourceSlice;
use planesmith_api_defs::storage::v1::VolumeAttachment;
use planesmith_machinery::object::Resource;
use planesmith_machinery::scheme::Scheme;
use planesmith_server::shutdown::Shutdown;
use planesmith_server::stores::ResourceStore;
use planesmith_store::{Entry, Event, EventKind, ListQuery, Storage, WatchError, Watcher};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use super::graph::{Graph, Referent};
use super::volumes::{VolumeSecrets, claim_of};

/// The pause between two updates of the index that no request waits for.
const PAUSE: Duration = Duration::from_millis(100);

/// The relations of nodes and objects. Each question is answered from the current state of the store: the references of pods
/// are indexed, and the index is brought up to date first.
pub(super) struct Relations {
    pods: ResourceStore,
    volumes: ResourceStore,
    objects: Arc<dyn Lister>,
    /// Locked for a lookup and for the changes since the last one.
    index: Mutex<Index>,
}

/// The references of pods and volumes, and the changes to read next.
#[derive(Debug, Default)]
struct Index {
    graph: Graph,
    volumes: VolumeSecrets,
    /// The watchers of pods and volumes; `None` until the index is built, and after changes were missed.
    watchers: Option<(Watcher, Watcher)>,
}

impl Relations {
    /// Returns the relations of the objects on `storage`, with the kinds of `scheme`. They are read when they are needed.
    pub(super) fn new(storage: &Storage, scheme: &Scheme, objects: &Arc<dyn Lister>) -> Self {
        Self {
            pods: ResourceStore::with_versions(storage, Pod::RESOURCE, scheme),
            volumes: ResourceStore::with_versions(storage, PersistentVolume::RESOURCE, scheme),
            objects: Arc::clone(objects),
            index: Mutex::default(),
        }
    }

    /// True if a pod of `node` refers to the object, or if a volume of such a pod needs the secret.
    pub(super) fn refers(&self, node: &str, kind: Referent, namespace: &str, name: &str) -> bool {
        let object = kind.object(namespace, name);
        let index = self.current();
        index.graph.has(node, &object) || index.volumes.claims(&object).any(|claim| index.graph.has(node, claim))
    }

    /// True if the volume is bound to a claim of a pod of `node`.
    pub(super) fn mounts(&self, node: &str, volume: &str) -> bool {
        let volume = self.find::<PersistentVolume>("", volume);
        let claim = volume.and_then(|volume| claim_of(&volume));
        claim.is_some_and(|claim| self.current().graph.has(node, &claim))
    }

    /// True if the pod is bound to `node`.
    pub(super) fn runs(&self, node: &str, namespace: &str, name: &str) -> bool {
        let key = self.pods.key(namespace, name).ok();
        let entry = key.and_then(|key| self.pods.collection().get(&key));
        entry.is_some_and(|entry| self.node_name(&entry) == node)
    }

    /// True if the volume is attached to `node`, or to be attached.
    pub(super) fn attaches(&self, node: &str, attachment: &str) -> bool {
        let attachment = self.find::<VolumeAttachment>("", attachment);
        attachment.is_some_and(|attachment| attachment.spec.node_name == node)
    }

    /// True if the devices of the slice are on `node`.
    pub(super) fn has_devices(&self, node: &str, slice: &str) -> bool {
        let slice = self.find::<ResourceSlice>("", slice);
        slice.is_some_and(|slice| slice.spec.node_name.as_deref() == Some(node))
    }

    /// True if the request is for a pod on `node`.
    pub(super) fn requests_certificate(&self, node: &str, namespace: &str, name: &str) -> bool {
        let request = self.find::<PodCertificateRequest>(namespace, name);
        request.is_some_and(|request| request.spec.node_name == node)
    }

    /// Brings the index up to date, so that the next question finds few changes.
    pub(super) fn refresh(&self) {
        drop(self.current());
    }

    /// Returns watchers of the changes that the index follows.
    pub(super) fn watch(&self) -> [Watcher; 2] {
        [self.pods.watch(), self.volumes.watch()]
    }

    fn find<R: Resource>(&self, namespace: &str, name: &str) -> Option<Arc<R>> {
        let found = self.objects.find::<R>(namespace, name);
        found.unwrap_or_else(|error| {
            tracing::warn!(kind = %R::RESOURCE.kind, namespace, name, error = error.message(), "an object cannot be read");
            None
        })
    }

    fn node_name<'e>(&self, entry: &'e Entry) -> &'e str {
        let position = self
            .pods
            .facts()
            .selectable
            .iter()
            .position(|field| *field == "spec.nodeName");
        position
            .and_then(|position| entry.row().field(position))
            .unwrap_or_default()
    }

    /// The index with all visible changes.
    fn current(&self) -> MutexGuard<'_, Index> {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        if self.catch_up(&mut index).is_none() {
            *index = self.build();
        }
        index
    }

    /// Applies the changes since the last time; `None` if not all of them are known.
    fn catch_up(&self, index: &mut Index) -> Option<()> {
        let Index {
            graph,
            volumes,
            watchers,
        } = index;
        let (pod_changes, volume_changes) = watchers.as_mut()?;
        each(pod_changes, |event| match event.kind() {
            EventKind::Delete => graph.remove(event.entry().key()),
            EventKind::Put { .. } => self.put_pod(graph, event.entry()),
        })?;
        each(volume_changes, |event| match event.kind() {
            EventKind::Delete => volumes.remove(event.entry().key()),
            EventKind::Put { .. } => self.put_volume(volumes, event.entry()),
        })
    }

    fn build(&self) -> Index {
        let mut index = Index::default();
        let read = |store: &ResourceStore| {
            let collection = store.collection();
            collection.list_and_watch(&ListQuery::all(collection.prefix()))
        };
        let ((pods, pod_changes), (volumes, volume_changes)) = (read(&self.pods), read(&self.volumes));
        for entry in &pods.entries {
            self.put_pod(&mut index.graph, entry);
        }
        for entry in &volumes.entries {
            self.put_volume(&mut index.volumes, entry);
        }
        index.watchers = Some((pod_changes.without_previous(), volume_changes.without_previous()));
        index
    }

    fn put_pod(&self, graph: &mut Graph, entry: &Entry) {
        let key = entry.key();
        if self.node_name(entry).is_empty() {
            return graph.remove(key);
        }
        let fingerprint = fingerprint(entry);
        if fingerprint.is_some_and(|fingerprint| graph.is_current(key, fingerprint)) {
            return;
        }
        match (fingerprint, self.pods.typed::<Pod>(entry)) {
            (Some(fingerprint), Some(pod)) => graph.put(key, fingerprint, &pod),
            // A pod that cannot be read gives access to nothing.
            _ => graph.remove(key),
        }
    }

    fn put_volume(&self, volumes: &mut VolumeSecrets, entry: &Entry) {
        match self.volumes.typed::<PersistentVolume>(entry) {
            Some(volume) => volumes.put(entry.key(), &volume),
            None => volumes.remove(entry.key()),
        }
    }
}

impl fmt::Debug for Relations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relations").finish_non_exhaustive()
    }
}

/// Calls `apply` with all available changes; `None` if changes were forgotten.
fn each(watcher: &mut Watcher, mut apply: impl FnMut(&Event)) -> Option<()> {
    loop {
        let events = watcher.try_next().ok()?;
        if events.is_empty() {
            return Some(());
        }
        events.iter().for_each(|event| apply(event));
    }
}

/// The fields of a pod that its references depend on, apart from immutable ones.
#[derive(Deserialize, Hash)]
struct Variable<'p> {
    #[serde(borrow)]
    metadata: Identity<'p>,
    #[serde(borrow)]
    spec: Placement<'p>,
    #[serde(borrow, default)]
    status: Claims<'p>,
}

#[derive(Deserialize, Hash)]
struct Identity<'p> {
    #[serde(borrow, default)]
    uid: Cow<'p, str>,
}

#[derive(Deserialize, Hash)]
#[serde(rename_all = "camelCase")]
struct Placement<'p> {
    #[serde(borrow, default)]
    node_name: Cow<'p, str>,
    /// Ephemeral containers are added, but neither changed nor removed.
    #[serde(default, deserialize_with = "length")]
    ephemeral_containers: usize,
}

#[derive(Default, Deserialize, Hash)]
#[serde(rename_all = "camelCase")]
struct Claims<'p> {
    #[serde(borrow, default)]
    resource_claim_statuses: Vec<CreatedClaim<'p>>,
    #[serde(borrow, default)]
    extended_resource_claim_status: Option<CreatedClaim<'p>>,
}

#[derive(Deserialize, Hash)]
#[serde(rename_all = "camelCase")]
struct CreatedClaim<'p> {
    #[serde(borrow, default)]
    name: Cow<'p, str>,
    #[serde(borrow, default)]
    resource_claim_name: Cow<'p, str>,
}

fn length<'de, D: Deserializer<'de>>(list: D) -> Result<usize, D::Error> {
    Ok(Vec::<IgnoredAny>::deserialize(list)?.len())
}

/// Returns a hash of the fields that the references of a pod depend on, without decoding the whole pod; `None` if it cannot
/// be read.
fn fingerprint(entry: &Entry) -> Option<u64> {
    let json = entry.bytes();
    let variable: Variable<'_> = serde_json::from_slice(&json).ok()?;
    let mut hasher = DefaultHasher::new();
    variable.hash(&mut hasher);
    Some(hasher.finish())
}

/// Keeps the index of `relations` up to date until the server stops, so that requests of nodes find few changes to apply.
pub(super) async fn follow(relations: Arc<Relations>, mut shutdown: Shutdown) {
    loop {
        let [mut pods, mut volumes] = relations.watch();
        let current = Arc::clone(&relations);
        // The first time all pods are read.
        let refreshed = tokio::task::spawn_blocking(move || current.refresh()).await;
        if refreshed.is_err() {
            return;
        }
        loop {
            let change = tokio::select! {
                biased;
                () = shutdown.requested() => return,
                change = pods.next() => change,
                change = volumes.next() => change,
            };
            match change {
                Ok(_) => relations.refresh(),
                Err(WatchError::Closed) => return,
                Err(WatchError::Compacted { .. }) => break,
            }
            tokio::select! {
                biased;
                () = shutdown.requested() => return,
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
    }
}
