//! Definitions that are served.

use std::collections::BTreeSet;
use std::sync::Arc;

use planesmith_machinery::resource::ResourceFacts;
use planesmith_server::endpoint::Endpoint;
use planesmith_server::routes::ResourceHandler;
use planesmith_server::stores::Stores;
use planesmith_store::{At, Entry, ListQuery};
use serde_json::Value;

use crate::custom::CustomResources;
use crate::definition::Definition;
use crate::facts::KnownFacts;

/// Turns definitions into resources that are served.
#[derive(Clone, Debug)]
pub struct Definitions {
    stores: Stores,
    resources: CustomResources,
    facts: Arc<KnownFacts>,
}

impl Definitions {
    /// Serves custom objects from `stores` as `resources`.
    #[must_use]
    pub fn new(stores: &Stores, resources: CustomResources, facts: KnownFacts) -> Self {
        Self {
            stores: stores.clone(),
            resources,
            facts: Arc::new(facts),
        }
    }

    /// Serves the versions of a definition, in place of those that it had before.
    pub fn serve(&self, definition: &Value) {
        let definition = Definition::new(definition);
        let facts = self.facts.of(definition);
        let served = facts.iter().filter(|facts| facts.served);
        let handlers = served.map(|facts| Arc::new(Endpoint::new(facts, &self.stores)) as Arc<dyn ResourceHandler>);
        self.resources.define(definition.name(), handlers.collect());
    }

    /// Serves a definition no more.
    pub fn remove(&self, name: &str) {
        self.resources.remove(name);
    }

    /// The namespaces that hold objects of a kind, each once; `[""]` for objects in none.
    #[must_use]
    pub fn namespaces(&self, kind: &'static ResourceFacts) -> BTreeSet<String> {
        let store = self.stores.resource(kind);
        let all = ListQuery {
            prefix: store.collection().prefix(),
            after: None,
            limit: None,
            at: At::Latest,
            filter: None,
        };
        let entries = store
            .collection()
            .list(&all)
            .map(|page| page.entries)
            .unwrap_or_default();
        let namespace = |entry: &Arc<Entry>| store.names(entry.key()).0.to_owned();
        entries.iter().map(namespace).collect()
    }

    /// The facts of each version of a definition.
    #[must_use]
    pub fn facts(&self, definition: &Value) -> Arc<[&'static ResourceFacts]> {
        self.facts.of(Definition::new(definition))
    }
}
