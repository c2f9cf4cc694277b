//! APIServices of the group versions that this chain of servers itself serves.
//!
//! Those of built-in groups are created at start; changes to them last until the next start. Those of definitions
//! follow the definitions: changes are undone.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use planesmith_control_plane::group_version::GroupVersion;
use planesmith_control_plane::loopback::{Loopback, LoopbackError};
use planesmith_control_plane::reconciler::Reconcile;
use planesmith_control_plane::resource_client::{ResourceClient, text};
use planesmith_machinery::group_version::GroupVersionPriority;
use planesmith_server::stores::Stores;
use serde::Deserialize;
use serde_json::{Value, json};

/// The label of APIServices that are created here, and its values.
const MANAGED: &str = "kube-aggregator.kubernetes.io/automanaged";
const MANAGED_AT_START: &str = "onstart";
const MANAGED_ALWAYS: &str = "true";

/// Creates and deletes APIServices.
pub(super) struct AutoRegistration {
    api_services: ResourceClient,
    definitions: Option<ResourceClient>,
    /// APIServices of built-in group versions, by name.
    built_in: BTreeMap<String, Value>,
    /// Names of the APIServices that the store had when the server started.
    at_start: HashSet<String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The served group versions, by definition.
    served: BTreeMap<String, Vec<(String, String)>>,
    /// The definitions that need an APIService, by its name.
    wanted: BTreeMap<String, BTreeSet<String>>,
    /// Names of APIServices that were right once.
    settled: HashSet<String>,
}

/// The fields that are read of a definition.
#[derive(Deserialize)]
struct Definition {
    spec: DefinitionSpec,
}

#[derive(Deserialize)]
struct DefinitionSpec {
    group: String,
    versions: Vec<DefinitionVersion>,
}

#[derive(Deserialize)]
struct DefinitionVersion {
    name: String,
    #[serde(default)]
    served: bool,
}

impl AutoRegistration {
    /// APIServices for `served`, and for definitions.
    pub(super) fn new(
        stores: &Stores,
        loopback: &Loopback,
        api_services: &ResourceClient,
        served: &[GroupVersion],
    ) -> Self {
        let built_in = served.iter().filter(|version| version.group != crate::GROUP);
        let built_in = built_in.map(|version| {
            let place = (version.group, version.version, version.priority);
            let object = api_service(place, MANAGED_AT_START);
            (text(&object, "/metadata/name").to_owned(), object)
        });
        let group = "apiextensions.k8s.io";
        Self {
            api_services: api_services.clone(),
            definitions: ResourceClient::of(stores, loopback, group, "v1", "customresourcedefinitions"),
            built_in: built_in.collect(),
            at_start: api_services.names().into_iter().collect(),
            state: Mutex::default(),
        }
    }

    /// Names of the APIServices that are created at start.
    pub(super) fn built_in(&self) -> Vec<String> {
        self.built_in.keys().cloned().collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the desired APIService; `None` if there should be none.
    fn desired(&self, name: &str) -> Option<Value> {
        if let Some(built_in) = self.built_in.get(name) {
            return Some(built_in.clone());
        }
        let (version, group) = name.split_once('.')?;
        let is_wanted = self.state().wanted.contains_key(name);
        is_wanted.then(|| api_service((group, version, GroupVersionPriority::CUSTOM), MANAGED_ALWAYS))
    }

    /// Reads a definition again. Returns the names of the APIServices of its former and present group versions.
    fn read(&self, definition: &str) -> Vec<String> {
        let objects = self.definitions.as_ref();
        let read: Option<Definition> = objects.and_then(|objects| objects.read("", definition));
        let served: Vec<(String, String)> = read.map_or_else(Vec::new, |Definition { spec }| {
            let served = spec.versions.into_iter().filter(|version| version.served);
            served.map(|version| (spec.group.clone(), version.name)).collect()
        });
        self.state().follow(definition, served)
    }
}

impl State {
    fn follow(&mut self, definition: &str, served: Vec<(String, String)>) -> Vec<String> {
        let now: Vec<String> = served.iter().map(name_of).collect();
        let before = match served.is_empty() {
            true => self.served.remove(definition),
            false => self.served.insert(definition.to_owned(), served),
        };
        let before: Vec<String> = before.unwrap_or_default().iter().map(name_of).collect();
        for name in &before {
            if let Some(wanting) = self.wanted.get_mut(name) {
                wanting.remove(definition);
                if wanting.is_empty() {
                    self.wanted.remove(name);
                }
            }
        }
        for name in &now {
            let wanting = self.wanted.entry(name.clone()).or_default();
            wanting.insert(definition.to_owned());
        }
        before.into_iter().chain(now).collect()
    }
}

impl Reconcile for AutoRegistration {
    const NAME: &'static str = "registration of a group version";

    fn watched(&self) -> Vec<&ResourceClient> {
        std::iter::once(&self.api_services).chain(&self.definitions).collect()
    }

    fn all(&self) -> Vec<String> {
        let definitions = self.definitions.iter().flat_map(ResourceClient::names);
        let mut all: Vec<String> = definitions.flat_map(|definition| self.read(&definition)).collect();
        all.extend(self.built_in.keys().cloned());
        all.extend(self.api_services.names());
        all
    }

    fn touched(&self, kind: usize, _namespace: &str, name: &str) -> Vec<String> {
        match kind {
            0 => vec![name.to_owned()],
            _ => self.read(name),
        }
    }

    async fn reconcile(&self, name: &str) -> Result<(), LoopbackError> {
        let is_settled = self.state().settled.contains(name);
        self.settle(name, is_settled).await?;
        self.state().settled.insert(name.to_owned());
        Ok(())
    }
}

impl AutoRegistration {
    /// Creates, restores or deletes one APIService; those that are managed at start are restored only once.
    async fn settle(&self, name: &str, is_settled: bool) -> Result<(), LoopbackError> {
        let desired = self.desired(name);
        let stored = self.api_services.get("", name);
        if is_settled && desired.as_ref().is_some_and(is_managed_at_start) {
            return Ok(());
        }
        let (stored, desired) = match (stored, desired) {
            (None, None) => return Ok(()),
            (None, Some(desired)) => return self.api_services.create(&desired).await,
            (Some(stored), desired) => (stored, desired),
        };
        let is_old = is_managed_at_start(&stored) && (is_settled || !self.at_start.contains(name));
        if !is_managed(&stored) || is_old {
            return Ok(());
        }
        let Some(desired) = desired else {
            return self.api_services.delete_exactly(&stored, None).await;
        };
        if stored["spec"] == desired["spec"] {
            return Ok(());
        }
        let mut changed = stored;
        changed["spec"] = desired["spec"].clone();
        self.api_services.replace(&changed).await
    }
}

fn is_managed(object: &Value) -> bool {
    [MANAGED_AT_START, MANAGED_ALWAYS].contains(&label(object))
}

fn is_managed_at_start(object: &Value) -> bool {
    label(object) == MANAGED_AT_START
}

fn label(object: &Value) -> &str {
    let labels = object.pointer("/metadata/labels");
    let label = labels.and_then(|labels| labels.get(MANAGED));
    label.and_then(Value::as_str).unwrap_or_default()
}

fn name_of((group, version): &(String, String)) -> String {
    format!("{version}.{group}")
}

fn api_service((group, version, priority): (&str, &str, GroupVersionPriority), managed: &str) -> Value {
    let mut object = json!({
        "apiVersion": super::API_VERSION,
        "kind": "APIService",
        "metadata": {"name": format!("{version}.{group}"), "labels": {MANAGED: managed}},
        "spec": {
            "version": version,
            "groupPriorityMinimum": priority.group,
            "versionPriority": priority.version,
        },
    });
    if !group.is_empty() {
        object["spec"]["group"] = json!(group);
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(versions: &[&str]) -> Vec<(String, String)> {
        let versions = versions
            .iter()
            .map(|version| ("a.example".to_owned(), (*version).to_owned()));
        versions.collect()
    }

    #[test]
    fn a_version_is_wanted_while_any_definition_serves_it() {
        let mut state = State::default();
        assert_eq!(
            state.follow("x.a.example", served(&["v1", "v2"])),
            ["v1.a.example", "v2.a.example"]
        );
        state.follow("y.a.example", served(&["v1"]));
        let touched = state.follow("x.a.example", Vec::new());
        assert_eq!(touched, ["v1.a.example", "v2.a.example"]);
        assert!(state.wanted.contains_key("v1.a.example") && !state.wanted.contains_key("v2.a.example"));
    }

    #[test]
    fn built_in_versions_have_their_places() {
        let core = api_service(("", "v1", GroupVersionPriority::new(18_000, 1)), MANAGED_AT_START);
        assert_eq!(text(&core, "/metadata/name"), "v1.");
        assert_eq!(
            core["spec"],
            json!({"version": "v1", "groupPriorityMinimum": 18_000, "versionPriority": 1})
        );
        let custom = api_service(("shop.example.com", "v1", GroupVersionPriority::CUSTOM), MANAGED_ALWAYS);
        assert_eq!(
            (
                &custom["spec"]["groupPriorityMinimum"],
                &custom["spec"]["versionPriority"]
            ),
            (&json!(1000), &json!(100))
        );
    }
}
