//! Follows definitions: judges their names, serves them, and empties those that are on their way out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use planesmith_extensions::definition::Definition;
use planesmith_extensions::names::TakenNames;
use planesmith_extensions::{Definitions, settled};
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::time::Time;
use planesmith_server::shutdown::Shutdown;
use planesmith_server::stores::ResourceStore;
use planesmith_store::{At, Entry, EventKind, ListQuery, WatchError, Watcher};
use serde_json::{Value, json};

use crate::loopback::{Loopback, LoopbackError};

/// The finalizer that stands for the objects of a definition.
const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// How often a definition is looked at again whose objects are held by finalizers, or that could not be written.
const RETRY: Duration = Duration::from_secs(1);

/// Turns definitions that are stored into resources that are served.
pub(super) struct DefinitionController {
    store: Arc<ResourceStore>,
    definitions: Definitions,
    loopback: Loopback,
    /// By definition: its group, and the names that it has been given.
    known: BTreeMap<String, Known>,
}

struct Known {
    group: String,
    names: TakenNames,
    /// It wants names that others have.
    waits: bool,
}

impl DefinitionController {
    pub(super) fn new(store: Arc<ResourceStore>, definitions: Definitions, loopback: &Loopback) -> Self {
        Self {
            store,
            definitions,
            loopback: loopback.clone(),
            known: BTreeMap::new(),
        }
    }

    /// Serves what is defined now, and then follows changes in the background.
    pub(super) async fn start(mut self, shutdown: Shutdown) {
        let (entries, watcher) = self.look();
        let mut unfinished = BTreeSet::new();
        for entry in entries {
            self.settle(&entry, &mut unfinished).await;
        }
        tokio::spawn(self.follow(watcher, unfinished, shutdown));
    }

    async fn follow(mut self, mut watcher: Watcher, mut unfinished: BTreeSet<String>, mut shutdown: Shutdown) {
        loop {
            let retry = async {
                if unfinished.is_empty() {
                    std::future::pending::<()>().await;
                }
                tokio::time::sleep(RETRY).await;
            };
            tokio::select! {
                () = shutdown.requested() => return,
                () = retry => {
                    for name in std::mem::take(&mut unfinished) {
                        self.settle_named(&name, &mut unfinished).await;
                    }
                }
                events = watcher.next() => match events {
                    Ok(events) => for event in events {
                        match event.kind() {
                            EventKind::Delete => self.forget(event.entry(), &mut unfinished).await,
                            _ => self.settle(event.entry(), &mut unfinished).await,
                        }
                    },
                    Err(WatchError::Closed) => return,
                    Err(_) => {
                        let (entries, from_now) = self.look();
                        watcher = from_now;
                        for entry in entries {
                            self.settle(&entry, &mut unfinished).await;
                        }
                    }
                },
            }
        }
    }

    /// The definitions that there are, and what happens from now on.
    fn look(&self) -> (Vec<Arc<Entry>>, Watcher) {
        let collection = self.store.collection();
        let all = ListQuery {
            prefix: collection.prefix(),
            after: None,
            limit: None,
            at: At::Latest,
            filter: None,
        };
        let (page, watcher) = collection.list_and_watch(&all);
        (page.entries, watcher)
    }

    async fn settle_named(&mut self, name: &str, unfinished: &mut BTreeSet<String>) {
        let key = self.store.key("", name);
        if let Some(entry) = key.ok().and_then(|key| self.store.collection().get(&key)) {
            self.settle(&entry, unfinished).await;
        }
    }

    /// Brings what is served, and the status of the definition, up to date.
    async fn settle(&mut self, entry: &Entry, unfinished: &mut BTreeSet<String>) {
        let Ok(mut document) = serde_json::from_slice::<Value>(entry.bytes()) else {
            return;
        };
        let definition = Definition::new(&document);
        let name = definition.name().to_owned();
        let outcome = if definition.is_leaving() {
            self.empty(&document).await
        } else {
            let status = settled(&document, &self.taken(definition), &now());
            let changed = document.get("status") != Some(&status);
            document["status"] = status;
            // Served before it says so: who reads that it is established can use it.
            self.serve(&document);
            if changed {
                self.write_status(&document).await
            } else {
                Ok(true)
            }
        };
        match outcome {
            Ok(true) => {}
            Ok(false) => drop(unfinished.insert(name)),
            // Somebody was faster; the next event tells.
            Err(error) if error.status() == Some(StatusCode::CONFLICT) => {}
            Err(error) => {
                tracing::warn!(definition = name, %error, "a definition is not settled yet");
                unfinished.insert(name);
            }
        }
    }

    fn serve(&mut self, document: &Value) {
        let definition = Definition::new(document);
        let mut names = TakenNames::default();
        names.add(definition);
        let known = Known {
            group: definition.group().to_owned(),
            names,
            waits: !definition.is("NamesAccepted"),
        };
        self.known.insert(definition.name().to_owned(), known);
        if definition.is("Established") {
            self.definitions.serve(document);
        } else {
            self.definitions.remove(definition.name());
        }
    }

    /// The names that others in the group have.
    fn taken(&self, definition: Definition<'_>) -> TakenNames {
        let mut taken = TakenNames::default();
        let others = self
            .known
            .iter()
            .filter(|(name, known)| name.as_str() != definition.name() && known.group == definition.group());
        for (_, other) in others {
            taken.add_all(&other.names);
        }
        taken
    }

    async fn write_status(&self, document: &Value) -> Result<bool, LoopbackError> {
        let path = format!(
            "{}/status",
            path_of(self.store.facts(), Definition::new(document).name())
        );
        self.loopback.send(Method::PUT, &path, Some(document)).await?;
        Ok(true)
    }

    /// Serves a definition no more that is gone; those that wait for its names are looked at again.
    async fn forget(&mut self, entry: &Entry, unfinished: &mut BTreeSet<String>) {
        let (_, name) = self.store.names(entry.key());
        self.definitions.remove(name);
        let Some(gone) = self.known.remove(name) else { return };
        let waiting = self
            .known
            .iter()
            .filter(|(_, known)| known.waits && known.group == gone.group);
        let waiting: Vec<String> = waiting.map(|(name, _)| name.clone()).collect();
        for name in waiting {
            self.settle_named(&name, unfinished).await;
        }
    }

    /// Deletes the objects of a definition that is on its way out, and lets it go when none is left; whether it was.
    async fn empty(&mut self, document: &Value) -> Result<bool, LoopbackError> {
        let finalizers = document.pointer("/metadata/finalizers").and_then(Value::as_array);
        if !finalizers.is_some_and(|finalizers| finalizers.contains(&json!(CLEANUP))) {
            return Ok(true);
        }
        let facts = self.definitions.facts(document);
        let Some(served) = facts.iter().find(|facts| facts.served).copied() else {
            return self.let_go(document).await;
        };
        for namespace in self.definitions.namespaces(served) {
            let path = collection_path(served, &namespace);
            self.loopback.send(Method::DELETE, &path, None).await?;
        }
        if !self.definitions.namespaces(served).is_empty() {
            return Ok(false);
        }
        self.let_go(document).await
    }

    async fn let_go(&self, document: &Value) -> Result<bool, LoopbackError> {
        let mut document = document.clone();
        if let Some(Value::Array(finalizers)) = document.pointer_mut("/metadata/finalizers") {
            finalizers.retain(|finalizer| *finalizer != json!(CLEANUP));
        }
        let path = path_of(self.store.facts(), Definition::new(&document).name());
        match self.loopback.send(Method::PUT, &path, Some(&document)).await {
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => Ok(true),
            other => other.map(|_| true),
        }
    }
}

fn now() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seconds = now.map_or(0, |now| now.as_secs());
    Time::from_second(i64::try_from(seconds).unwrap_or(i64::MAX)).to_string()
}

fn path_of(kind: &ResourceFacts, name: &str) -> String {
    format!("/apis/{}/{}/{name}", kind.api_version, kind.plural)
}

/// The objects of a kind in a namespace; of a kind that lives in none when it is empty.
fn collection_path(kind: &ResourceFacts, namespace: &str) -> String {
    let root = format!("/apis/{}", kind.api_version);
    match namespace {
        "" => format!("{root}/{}", kind.plural),
        namespace => format!("{root}/namespaces/{namespace}/{}", kind.plural),
    }
}
