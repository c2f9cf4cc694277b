//! Follows definitions: accepts or refuses their names, serves them, and deletes the objects of terminating ones.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use planesmith_api_defs::apiextensions::v1::{ApprovalState, CustomResourceDefinition};
use planesmith_control_plane::conditions::{ConditionState, remove_condition, set_condition};
use planesmith_control_plane::loopback::{Loopback, LoopbackError};
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::time::Time;
use planesmith_server::discovery::GroupDirectory;
use planesmith_server::shutdown::Shutdown;
use planesmith_server::stores::ResourceStore;
use planesmith_store::{Entry, EventKind, ListQuery, Revision, WatchError, Watcher};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use crate::definition::{Definition, INVALID_AUTHORITIES};
use crate::definitions::Definitions;
use crate::names::TakenNames;
use crate::status::{established, with_names};
use crate::{relocation, remover};

/// The finalizer of definitions with objects.
const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// The delay after which a definition is processed again whose objects have finalizers, or that could not be written.
const RETRY: Duration = Duration::from_secs(1);

/// The longest time a definition waits to appear in the list of groups before its condition Established is set all
/// the same.
const LISTED_WITHIN: Duration = Duration::from_secs(1);

/// Serves the resources of stored definitions.
pub(crate) struct DefinitionController {
    store: Arc<ResourceStore>,
    definitions: Definitions,
    loopback: Loopback,
    directory: GroupDirectory,
    /// The accepted names of definitions, by group.
    names: BTreeMap<String, TakenNames>,
    states: BTreeMap<String, DefinitionState>,
    /// Definitions that may get names that others of their group gave up.
    reconsidered: BTreeSet<String>,
    /// Definitions whose objects are being removed. There may be many objects, so other definitions do not wait for
    /// that.
    removals: JoinSet<String>,
    removing: BTreeSet<String>,
    /// Keys of the definitions at start whose objects may be at keys of an earlier program.
    unmoved: BTreeSet<String>,
}

/// The state of a definition.
struct DefinitionState {
    group: String,
    /// True if its accepted names are not those that it requests, because other definitions have them.
    waits: bool,
    /// The revision at which the controller wrote its status last: events up to that write are ignored.
    written: Option<Revision>,
}

impl DefinitionController {
    pub(crate) fn new(
        store: Arc<ResourceStore>,
        definitions: Definitions,
        loopback: &Loopback,
        directory: &GroupDirectory,
    ) -> Self {
        Self {
            store,
            definitions,
            loopback: loopback.clone(),
            directory: directory.clone(),
            names: BTreeMap::new(),
            states: BTreeMap::new(),
            reconsidered: BTreeSet::new(),
            removals: JoinSet::new(),
            removing: BTreeSet::new(),
            unmoved: BTreeSet::new(),
        }
    }

    /// Serves the stored definitions, and then follows changes in the background.
    pub(crate) async fn start(mut self, shutdown: Shutdown) {
        let (entries, watcher) = self.list_and_watch();
        let mut unfinished = BTreeSet::new();
        for entry in entries {
            self.unmoved.insert(entry.key().to_owned());
            self.settle(&entry, &mut unfinished).await;
        }
        self.reconsider(&mut unfinished).await;
        tokio::spawn(self.follow(watcher, unfinished, shutdown));
    }

    /// Moves objects of a definition that was there at start to the keys under which they are served. True if all are there.
    async fn relocate(&mut self, entry: &Entry, document: &Value) -> bool {
        if !self.unmoved.contains(entry.key()) {
            return true;
        }
        if let Some(kind) = self.definitions.facts(document).first()
            && relocation::relocate(self.definitions.stores(), kind).await.is_err()
        {
            return false;
        }
        self.unmoved.remove(entry.key());
        true
    }

    async fn follow(mut self, mut watcher: Watcher, mut unfinished: BTreeSet<String>, mut shutdown: Shutdown) {
        let mut retry = tokio::time::interval(RETRY);
        retry.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            self.reconsider(&mut unfinished).await;
            tokio::select! {
                () = shutdown.requested() => return,
                _ = retry.tick(), if !unfinished.is_empty() => {
                    for name in std::mem::take(&mut unfinished) {
                        self.settle_named(&name, &mut unfinished).await;
                    }
                }
                Some(Ok(name)) = self.removals.join_next() => {
                    self.removing.remove(&name);
                    self.removed(&name, &mut unfinished).await;
                }
                events = watcher.next() => match events {
                    Ok(events) => for event in events {
                        match event.kind() {
                            EventKind::Delete => self.forget(event.entry()),
                            EventKind::Put { .. } if self.wrote(event.entry()) => {}
                            EventKind::Put { .. } => self.settle(event.entry(), &mut unfinished).await,
                        }
                    },
                    Err(WatchError::Closed) => return,
                    Err(_) => {
                        let (entries, from_now) = self.list_and_watch();
                        watcher = from_now;
                        for entry in entries {
                            self.settle(&entry, &mut unfinished).await;
                        }
                    }
                },
            }
        }
    }

    /// Returns the stored definitions, and a watcher of later changes.
    fn list_and_watch(&self) -> (Vec<Arc<Entry>>, Watcher) {
        let collection = self.store.collection();
        let (page, watcher) = collection.list_and_watch(&ListQuery::all(collection.prefix()));
        (page.entries, watcher)
    }

    /// Continues with a definition whose objects were removed, except for those with finalizers.
    async fn removed(&mut self, name: &str, unfinished: &mut BTreeSet<String>) {
        let stays = self.stored(name).and_then(|entry| {
            let document: Value = serde_json::from_slice(&entry.bytes()).ok()?;
            let facts = self.definitions.facts(&document);
            facts.first().map(|kind| !self.definitions.has_no_objects(kind))
        });
        match stays {
            Some(true) => drop(unfinished.insert(name.to_owned())),
            _ => self.settle_named(name, unfinished).await,
        }
    }

    /// The current time, for conditions.
    fn now(&self) -> String {
        Time::from(self.loopback.clock().now()).to_string()
    }

    fn stored(&self, name: &str) -> Option<Arc<Entry>> {
        let key = self.store.key("", name).ok()?;
        self.store.collection().get(&key)
    }

    async fn settle_named(&mut self, name: &str, unfinished: &mut BTreeSet<String>) {
        if let Some(entry) = self.stored(name) {
            self.settle(&entry, unfinished).await;
        }
    }

    /// Decides again about definitions after others of their group gave up names, until no names change.
    async fn reconsider(&mut self, unfinished: &mut BTreeSet<String>) {
        while let Some(name) = self.reconsidered.pop_first() {
            self.settle_named(&name, unfinished).await;
        }
    }

    /// Remembers to decide again about the definitions of a group that wait for names.
    fn reconsider_group(&mut self, group: &str) {
        let waiting = self
            .states
            .iter()
            .filter(|(_, known)| known.waits && known.group == group);
        self.reconsidered.extend(waiting.map(|(name, _)| name.clone()));
    }

    /// Updates the served resources and the status of a definition.
    async fn settle(&mut self, entry: &Entry, unfinished: &mut BTreeSet<String>) {
        let Ok(mut document) = serde_json::from_slice::<Value>(&entry.bytes()) else {
            return;
        };
        let definition = Definition::new(&document);
        let name = definition.name().to_owned();
        // An object at an old key would look deleted.
        if !self.relocate(entry, &document).await {
            unfinished.insert(name);
            return;
        }
        let outcome = if definition.is_terminating() {
            self.serve(&document);
            self.empty(&document).await
        } else {
            self.establish(entry, &mut document).await
        };
        match outcome {
            Ok(()) => {}
            // Another writer was faster; its event follows.
            Err(error) if error.status() == Some(StatusCode::CONFLICT) => {}
            // The server stops.
            Err(LoopbackError::NotReady) => drop(unfinished.insert(name)),
            Err(error) => {
                tracing::warn!(definition = name, %error, "a definition cannot be processed; it is retried");
                unfinished.insert(name);
            }
        }
    }

    /// Decides about the names of a definition, and then serves it if they are accepted. Each step is written to the status.
    async fn establish(&mut self, entry: &Entry, document: &mut Value) -> Result<(), LoopbackError> {
        let now = self.now();
        let typed = self.store.typed::<CustomResourceDefinition>(entry);
        let mut status = with_names(document, self.names_of(Definition::new(document).group()), &now);
        if let Some(definition) = &typed {
            self.set_problems(definition, &mut status);
        }
        let mut changed = document.get("status") != Some(&status);
        document["status"] = status;
        let has_invalid_authorities = typed.is_some_and(|definition| definition.has_invalid_authorities());
        let problem = has_invalid_authorities
            .then(|| ConditionState::no(INVALID_AUTHORITIES, "The conversion webhook CABundle is invalid"));
        let status = established(document, problem.as_ref(), &now);
        if document.get("status") != Some(&status) {
            if changed {
                *document = self.write(document).await?;
            }
            changed = true;
            document["status"] = status;
        }
        if changed {
            self.wait_for_listing(Definition::new(document)).await;
        }
        // Served just before the status says so: a client that reads Established can use the resource.
        self.serve(document);
        if changed {
            self.write_status(document).await?;
        }
        Ok(())
    }

    /// Reports problems of a definition that was stored by an earlier version with weaker checks.
    fn set_problems(&self, definition: &CustomResourceDefinition, status: &mut Value) {
        if let Some(problems) = definition.structural_problems() {
            set_condition(
                status,
                "NonStructuralSchema",
                &ConditionState::yes("Violations", problems),
                &self.now(),
            );
        } else {
            remove_condition(status, "NonStructuralSchema");
        }
        if let Some(approval) = definition.approval() {
            let verdict = match approval.state {
                ApprovalState::Approved => ConditionState::yes("ApprovedAnnotation", approval.message),
                ApprovalState::Bypassed => ConditionState::no("UnapprovedAnnotation", approval.message),
                ApprovalState::Missing => ConditionState::no("MissingAnnotation", approval.message),
                ApprovalState::Invalid => ConditionState::no("InvalidAnnotation", approval.message),
            };
            set_condition(status, "KubernetesAPIApprovalPolicyConformant", &verdict, &self.now());
        }
    }

    /// Waits until another task has listed the group versions of an established definition.
    async fn wait_for_listing(&self, definition: Definition<'_>) {
        if !definition.is("Established") {
            return;
        }
        let mut changes = self.directory.changes();
        let listed = async {
            let group = definition.group();
            let is_listed = || {
                let groups = self.directory.load();
                let mut served = definition.versions().filter(|version| version.is_served());
                served.all(|version| groups.lists(group, version.name()))
            };
            // The directory lives as long as its receiver here.
            while !is_listed() && changes.changed().await.is_ok() {}
        };
        if tokio::time::timeout(LISTED_WITHIN, listed).await.is_err() {
            tracing::warn!(
                definition = definition.name(),
                "the group versions of a definition are still missing in discovery"
            );
        }
    }

    /// Returns the names of a group's definitions. A plural under which the server itself stores objects is never free.
    fn names_of(&mut self, group: &str) -> &mut TakenNames {
        let scheme = self.definitions.stores().scheme();
        self.names.entry(group.to_owned()).or_insert_with(|| {
            let keys = format!("/registry/{group}/");
            let mut names = TakenNames::default();
            for own in scheme.iter() {
                if let Some(plural) = own.storage_prefix().strip_prefix(&keys) {
                    names.reserve(plural.trim_end_matches('/'));
                }
            }
            names
        })
    }

    fn serve(&mut self, document: &Value) {
        let definition = Definition::new(document);
        if self.names_of(definition.group()).take(definition) {
            self.reconsider_group(definition.group());
        }
        let known = DefinitionState {
            group: definition.group().to_owned(),
            waits: !definition.has_wanted_names(),
            written: None,
        };
        self.states.insert(definition.name().to_owned(), known);
        if definition.is("Established") {
            self.definitions.serve(document);
        } else if definition.is("NamesAccepted") && definition.has_unreadable_authorities() {
            self.definitions.refuse(document);
        } else {
            self.definitions.remove(definition.name());
        }
    }

    /// True if the controller itself wrote this state of a definition, or a later one that is based on it.
    fn wrote(&self, entry: &Entry) -> bool {
        let (_, name) = self.store.names(entry.key());
        let known = self.states.get(name);
        known.is_some_and(|known| known.written.is_some_and(|written| entry.revision() <= written))
    }

    async fn write_status(&mut self, document: &Value) -> Result<(), LoopbackError> {
        let written = self.write(document).await?;
        if let Some(known) = self.states.get_mut(Definition::new(document).name()) {
            let version = written.pointer("/metadata/resourceVersion").and_then(Value::as_str);
            known.written = version.and_then(|version| version.parse().ok()).map(Revision);
        }
        Ok(())
    }

    /// Writes the status, and the parts of the metadata that can be written with it.
    async fn write(&self, document: &Value) -> Result<Value, LoopbackError> {
        let name = Definition::new(document).name();
        let path = format!("{}/status", path_of(self.store.facts(), name));
        self.loopback.send(Method::PUT, &path, Some(document)).await
    }

    /// Stops serving a deleted definition. Those that wait for its names are processed again.
    fn forget(&mut self, entry: &Entry) {
        let (_, name) = self.store.names(entry.key());
        self.definitions.remove(name);
        let Some(gone) = self.states.remove(name) else { return };
        if let Some(names) = self.names.get_mut(&gone.group) {
            names.give_back(name);
            if names.has_none_given() {
                self.names.remove(&gone.group);
            }
        }
        self.reconsider_group(&gone.group);
    }

    /// Starts to delete the objects of a terminating definition, or removes its finalizer if none is left.
    async fn empty(&mut self, document: &Value) -> Result<(), LoopbackError> {
        let finalizers = document.pointer("/metadata/finalizers").and_then(Value::as_array);
        if !finalizers.is_some_and(|finalizers| finalizers.contains(&json!(CLEANUP))) {
            return Ok(());
        }
        let mut document = document.clone();
        let under_way = ConditionState::yes("InstanceDeletionInProgress", "CustomResource deletion is in progress");
        let words = &under_way.reason;
        let conditions = document.pointer("/status/conditions").and_then(Value::as_array);
        let is_said = conditions
            .is_some_and(|conditions| conditions.iter().any(|condition| condition["reason"] == words.as_str()));
        if !is_said {
            set_condition(&mut document["status"], "Terminating", &under_way, &self.now());
            document = self.write(&document).await?;
        }
        let done = if Definition::new(&document).is("Established") {
            let facts = self.definitions.facts(&document);
            if let Some(kind) = facts.first().cloned()
                && !self.definitions.has_no_objects(&kind)
            {
                let name = Definition::new(&document).name().to_owned();
                if self.removing.insert(name.clone()) {
                    let definitions = self.definitions.clone();
                    self.removals.spawn(async move {
                        remover::remove_all(&definitions, &kind).await;
                        name
                    });
                }
                return Ok(());
            }
            ConditionState::no("InstanceDeletionCompleted", "removed all instances")
        } else {
            ConditionState::no("NeverEstablished", "resource was never established")
        };
        set_condition(&mut document["status"], "Terminating", &done, &self.now());
        if let Some(Value::Array(finalizers)) = document.pointer_mut("/metadata/finalizers") {
            finalizers.retain(|finalizer| *finalizer != json!(CLEANUP));
        }
        match self.write(&document).await {
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => Ok(()),
            other => other.map(drop),
        }
    }
}

fn path_of(kind: &ResourceFacts, name: &str) -> String {
    format!("/apis/{}/{}/{name}", kind.api_version, kind.plural)
}
