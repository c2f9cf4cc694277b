//! The facts about requests from which their work is estimated.

use std::sync::{Arc, OnceLock};

use planesmith_machinery::feature::Features;

use crate::chain::SharedTable;
use crate::flow_control::{ListedWork, RequestedWork};
use crate::options::ListOptions;
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
        if let Verb::Create | Verb::Update | Verb::Patch | Verb::Delete = info.verb() {
            return self.write(info);
        }
        let limit = page_limit(info, Query::new(query), features);
        match limit.and_then(|limit| Some((limit, self.store(info)?))) {
            Some((limit, store)) => RequestedWork::List(list(&store, info, limit)),
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

/// The page size of a request that lists objects, or `Some(None)` if it lists all of them; `None` for a request that lists none. The
/// options are those that the handlers read, so that no spelling of a list is estimated as less.
fn page_limit(info: &RequestInfo, query: Query<'_>, features: &Features) -> Option<Option<usize>> {
    // The handlers refuse options that cannot be read, before they list anything.
    match info.verb() {
        Verb::List => ListOptions::for_list(query).ok().map(|options| options.page_limit()),
        Verb::Watch => {
            let options = ListOptions::for_watch(query, features).ok()?;
            options.watches_from_state().then_some(None)
        }
        _ => None,
    }
}

fn list(store: &ResourceStore, info: &RequestInfo, limit: Option<usize>) -> ListedWork {
    let size = store.collection().size();
    ListedWork {
        objects: size.entries,
        bytes: size.bytes,
        limit,
        is_of_one: !info.name().is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;

    #[track_caller]
    fn check(path: &str, expected: Option<Option<usize>>) {
        let uri: http::Uri = path.parse().unwrap();
        let info = RequestInfo::new(&Method::GET, &uri);
        let query = Query::new(uri.query().unwrap_or_default());
        assert_eq!(page_limit(&info, query, Features::defaults()), expected, "{path}");
    }

    #[test]
    fn lists_are_estimated_by_the_options_that_they_are_served_with() {
        check("/api/v1/pods", Some(None));
        check("/api/v1/pods?limit=5", Some(Some(5)));
        check("/api/v1/pods?limit=5&resourceVersion=0", Some(None));
        check("/api/v1/pods?limit=-5", Some(None));
        check("/api/v1/pods?limit=five", None);
        check("/api/v1/namespaces/n/pods/p", None);
    }

    #[test]
    fn watches_from_any_spelling_of_the_state_are_estimated_as_whole_lists() {
        for query in [
            "watch=1",
            "watch=yes&limit=1",
            "watch=1&resourceVersion=0",
            "watch=1&resourceVersion=00",
            "watch=1&resourceVersion=5&sendInitialEvents=yes&resourceVersionMatch=NotOlderThan",
        ] {
            check(&format!("/api/v1/pods?{query}"), Some(None));
        }
        check("/api/v1/watch/pods?resourceVersion=000", Some(None));
        check("/api/v1/pods?watch=1&resourceVersion=5", None);
        check(
            "/api/v1/pods?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
            None,
        );
    }
}
