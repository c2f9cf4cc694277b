//! Serves definitions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use http::Request;
use planesmith_machinery::resource::{ResourceFacts, Text};
use planesmith_machinery::status::ApiError;
use planesmith_server::discovery::ServedResource;
use planesmith_server::endpoint::Endpoint;
use planesmith_server::openapi::OpenApi;
use planesmith_server::request::Context;
use planesmith_server::response;
use planesmith_server::routes::ResourceHandler;
use planesmith_server::shutdown::{Shutdown, Stop};
use planesmith_server::stores::{ResourceStore, Stores};
use planesmith_store::{Entry, ListQuery, Revision};
use serde_json::Value;

use crate::custom::CustomResources;
use crate::definition::Definition;
use crate::facts::KnownFacts;
use crate::openapi::{self, SharedDocuments, Templates};

/// The reason that no object of a definition is created while that is being deleted.
const TERMINATING: &str = "create not allowed while custom resource definition is terminating";

/// Serves the custom resources of definitions.
#[derive(Clone)]
pub struct Definitions {
    stores: Stores,
    resources: CustomResources,
    facts: Arc<KnownFacts>,
    documents: Arc<SharedDocuments>,
    /// The store of the definitions themselves.
    store: Arc<ResourceStore>,
    /// Served definitions by name. Locked during changes.
    served: Arc<Mutex<BTreeMap<String, Served>>>,
}

/// A served definition.
struct Served {
    facts: Arc<[ResourceFacts]>,
    is_terminating: bool,
    /// The shutdown handles of each served version: dropping one ends the version's watches. They are kept until the facts change.
    ends: BTreeMap<Text, (Stop, Shutdown)>,
}

/// A version of a definition whose objects cannot be served: the answer to every request is an error.
struct UnusableVersion(Endpoint);

impl ResourceHandler for UnusableVersion {
    fn facts(&self) -> &ServedResource {
        ResourceHandler::facts(&self.0)
    }

    fn serve(self: Arc<Self>, _: Context, request: Request<Body>) -> BoxFuture<'static, Response> {
        let error = ApiError::internal("error resolving resource");
        let (parts, _) = request.into_parts();
        Box::pin(async move { response::failure(&parts, &error) })
    }

    fn is_listed(&self) -> bool {
        false
    }
}

impl Definitions {
    /// Creates the server of custom objects in `stores`. Routes go to `resources`, documents to `openapi`, modelled on its
    /// `templates`. `store` contains the definitions.
    #[must_use]
    pub fn new(
        stores: &Stores,
        store: &Arc<ResourceStore>,
        resources: CustomResources,
        facts: KnownFacts,
        (openapi, templates): (&OpenApi, Templates),
    ) -> Self {
        Self {
            stores: stores.clone(),
            resources,
            facts: Arc::new(facts),
            documents: Arc::new(SharedDocuments::new(openapi, templates)),
            store: Arc::clone(store),
            served: Arc::default(),
        }
    }

    /// Serves the versions of a definition, replacing its previous versions. If its facts have changed, all watches of its objects end:
    /// these look otherwise now, which no event reports, so clients have to list them again.
    pub fn serve(&self, definition: &Value) {
        let definition = Definition::new(definition);
        let facts = self.facts.of(definition);
        let is_terminating = definition.is_terminating();
        let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        let before = served.get(definition.name());
        let has_same_facts = before.is_some_and(|before| Arc::ptr_eq(&before.facts, &facts));
        if has_same_facts && before.is_some_and(|before| before.is_terminating == is_terminating) {
            return;
        }
        let mut before = served.remove(definition.name());
        let mut versions = before.as_ref().map(versions_of).unwrap_or_default();
        let mut ends = BTreeMap::new();
        let handlers = facts.iter().filter(|facts| facts.served).map(|facts| {
            let before = before.as_mut().filter(|_| has_same_facts);
            let known = before.and_then(|before| before.ends.remove(&facts.version));
            let (_, end) = ends
                .entry(facts.version.clone())
                .or_insert(known.unwrap_or_else(Stop::new));
            let endpoint = Endpoint::new(facts, &self.stores).until(end.clone());
            let endpoint = match is_terminating {
                true => endpoint.terminating(TERMINATING),
                false => endpoint,
            };
            Arc::new(endpoint) as Arc<dyn ResourceHandler>
        });
        let handlers = handlers.collect();
        if !has_same_facts {
            // After a start, history reaches back to what an earlier definition made of the objects.
            let changed = before.is_none().then(|| definition.revision());
            self.refuse_earlier_watches(&facts, changed.flatten());
        }
        self.resources.define(definition.name(), handlers);
        let now = Served {
            facts,
            is_terminating,
            ends,
        };
        versions.extend(versions_of(&now));
        served.insert(definition.name().to_owned(), now);
        self.publish(&served, versions);
        // Last, so that a client whose watch ends finds the new definition.
        drop(before);
    }

    /// Makes clients list the objects of a kind again before they watch them, if they know a state before the revision `changed`, by
    /// default the newest one.
    fn refuse_earlier_watches(&self, facts: &[ResourceFacts], changed: Option<Revision>) {
        if let Some(kind) = facts.first() {
            let store = self.stores.resource(kind);
            let changed = changed.unwrap_or_else(|| store.storage().revision());
            store.collection().raise_watch_floor(changed);
        }
    }

    /// Refuses requests for the objects of a definition with the error that its resource cannot be resolved. No document
    /// names the resource.
    pub fn refuse(&self, definition: &Value) {
        let name = Definition::new(definition).name();
        self.remove(name);
        let facts = self.facts.of(Definition::new(definition));
        let versions = facts.iter().filter(|facts| facts.served).map(|facts| {
            let endpoint = Endpoint::new(facts, &self.stores);
            Arc::new(UnusableVersion(endpoint)) as Arc<dyn ResourceHandler>
        });
        self.resources.define(name, versions.collect());
    }

    /// Stops serving a definition.
    pub fn remove(&self, name: &str) {
        let mut served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        self.resources.remove(name);
        if let Some(gone) = served.remove(name) {
            self.publish(&served, versions_of(&gone));
            if let Some(kind) = gone.facts.first() {
                let metrics = &self.stores.options().metrics;
                metrics.forget_resource(&kind.group, &kind.plural);
            }
        }
        self.facts.forget(name);
    }

    /// Publishes the OpenAPI documents of some versions anew.
    fn publish(&self, served: &BTreeMap<String, Served>, versions: BTreeSet<Text>) {
        for version in versions {
            let all = served.values().flat_map(|served| served.facts.iter());
            let kinds: Vec<ResourceFacts> = all
                .filter(|facts| facts.served && facts.api_version == version)
                .cloned()
                .collect();
            let path = format!("apis/{version}");
            let openapi = self.documents.openapi();
            if kinds.is_empty() {
                openapi.remove_v2(&path);
                openapi.remove_v3(&path);
            } else {
                let kinds: Arc<[ResourceFacts]> = kinds.into();
                let later = |make: openapi::Make| {
                    let (kinds, store) = (Arc::clone(&kinds), Arc::clone(&self.store));
                    let shared = Arc::clone(&self.documents);
                    move || make(&kinds, &store, &shared)
                };
                openapi.make_v2(&path, later(openapi::v2));
                openapi.make_v3(&path, later(openapi::v3));
            }
        }
    }

    /// Returns all stored objects of a kind, in any stored version.
    #[must_use]
    pub fn entries(&self, kind: &ResourceFacts) -> Vec<Arc<Entry>> {
        let store = self.stores.resource(kind);
        let collection = store.collection();
        // The latest revision is never compacted.
        let page = collection.list(&ListQuery::all(collection.prefix()));
        page.map(|page| page.entries).unwrap_or_default()
    }

    /// True if no object of a kind is stored.
    #[must_use]
    pub fn has_no_objects(&self, kind: &ResourceFacts) -> bool {
        self.stores.resource(kind).collection().stats().entries == 0
    }

    /// Returns the stores of all resources.
    #[must_use]
    pub fn stores(&self) -> &Stores {
        &self.stores
    }

    /// Returns the facts of each version of a definition.
    #[must_use]
    pub fn facts(&self, definition: &Value) -> Arc<[ResourceFacts]> {
        self.facts.of(Definition::new(definition))
    }
}

/// Returns `group/version` of each served version.
fn versions_of(served: &Served) -> BTreeSet<Text> {
    let versions = served.facts.iter().filter(|facts| facts.served);
    versions.map(|facts| facts.api_version.clone()).collect()
}

impl fmt::Debug for Definitions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definitions")
            .field("resources", &self.resources)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
