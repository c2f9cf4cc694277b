//! The facts about requests from which their work is estimated.

use std::sync::{Arc, OnceLock};

use planesmith_machinery::feature::Features;

use crate::chain::SharedTable;
use crate::features::WATCH_LIST;
use crate::flow_control::{ListedWork, RequestedWork};
use crate::request::{Query, RequestInfo, Verb};
use crate::stores::ResourceStore;

/// The stored objects of the served resources.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServedObjects {
    /// The tables of the chain, once it is assembled.
    tables: Arc<OnceLock<Vec<SharedTable>>>,
}

impl ServedObjects {
    /// Sets the tables of the chain.
    pub(crate) fn set_tables(&self, tables: Vec<SharedTable>) {
        // Set once, when the chain is prepared.
        let _ = self.tables.set(tables);
    }

    /// The facts about the work of a request.
    pub(super) fn requested(&self, info: &RequestInfo, query: &str, features: &Features) -> RequestedWork {
        let wanted = match info.verb() {
            Verb::List => true,
            Verb::Watch => begins_with_a_list(Query::new(query), features),
            Verb::Create | Verb::Update | Verb::Patch | Verb::Delete => return self.write(info),
            _ => false,
        };
        match wanted.then(|| self.store(info)).flatten() {
            Some(store) => RequestedWork::List(list(&store, info, Query::new(query))),
            None => RequestedWork::Small,
        }
    }

    fn write(&self, info: &RequestInfo) -> RequestedWork {
        let watches = self.store(info).map(|store| {
            // An object that is created may have no name yet: then watches of a single name do not count.
            let key = match info.path_name() {
                "" => Ok(store.prefix(info.namespace())),
                name => store.key(info.namespace(), name),
            };
            key.map_or(0, |key| store.collection().watches_of(&key))
        });
        // No object changes when a token is requested.
        let is_token = info.resource() == "serviceaccounts" && info.subresource() == "token";
        match watches {
            Some(watches) if !is_token => RequestedWork::Write { watches },
            _ => RequestedWork::Small,
        }
    }

    fn store(&self, info: &RequestInfo) -> Option<Arc<ResourceStore>> {
        if !info.is_resource() {
            return None;
        }
        let tables = self.tables.get()?;
        tables.iter().find_map(|table| {
            let table = table.load();
            let handler = table.handler(info.group(), info.version(), info.resource())?;
            handler.objects().map(Arc::clone)
        })
    }
}

fn list(store: &ResourceStore, info: &RequestInfo, query: Query<'_>) -> ListedWork {
    let stats = store.collection().stats();
    // A list that accepts any state gets all of it.
    let is_paged = query.first("resourceVersion").as_deref() != Some("0");
    let limit = query.first("limit").and_then(|limit| limit.parse().ok());
    ListedWork {
        objects: stats.entries,
        bytes: stats.bytes,
        limit: limit.filter(|limit| is_paged && *limit > 0),
        is_of_one: !info.name().is_empty(),
    }
}

/// True if a watch begins with the existing objects.
fn begins_with_a_list(query: Query<'_>, features: &Features) -> bool {
    if features.has(&WATCH_LIST)
        && query
            .first("sendInitialEvents")
            .is_some_and(|value| value == "true" || value == "1")
    {
        return true;
    }
    matches!(query.first("resourceVersion").as_deref(), None | Some("" | "0"))
}
