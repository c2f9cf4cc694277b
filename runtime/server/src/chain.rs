//! Servers that answer the requests that they serve and delegate the others.
//!
//! Every server has route tables for its resources, so that a resource costs a table entry and not a route, and an
//! axum router for its other paths. Delegation goes from table to table (module `resources`) and, for other paths, by
//! the routers' fallbacks. The outermost server merges and serves the hooks, health checks and paths of all servers.

pub(crate) mod discovery;
mod end;
pub(crate) mod resources;
mod shared_table;

use axum::Router;
use axum::routing::MethodRouter;

use self::end::end_of_chain;
pub use self::shared_table::{SharedTable, WeakTable};
use crate::health::HealthCheck;
use crate::hooks::Hook;
use crate::installation::Installation;
use crate::routes::Routes;

/// One server of the chain with the servers that it delegates to, while the chain is assembled.
#[derive(Debug)]
pub struct ApiServer {
    name: &'static str,
    /// In the order in which they are searched.
    tables: Vec<SharedTable>,
    paths: Vec<(String, MethodRouter)>,
    unlisted_paths: Vec<(String, MethodRouter)>,
    start_hooks: Vec<Hook>,
    stop_hooks: Vec<Hook>,
    checks: Vec<HealthCheck>,
    delegate: Option<Box<ApiServer>>,
}

/// The parts of the whole chain that the outermost server serves.
pub(crate) struct Merged {
    /// The paths of the chain that are not resources, as one router: each server falls back to its delegate.
    pub(crate) router: Router,
    /// The answer for a path that no server of the chain serves.
    pub(crate) end: Router,
    /// Tables from the outermost server to the innermost.
    pub(crate) tables: Vec<SharedTable>,
    pub(crate) paths: Vec<String>,
    /// In the order in which they run: hooks of delegates first.
    pub(crate) start_hooks: Vec<Hook>,
    pub(crate) stop_hooks: Vec<Hook>,
    pub(crate) checks: Vec<HealthCheck>,
}

impl ApiServer {
    /// Returns a server that serves the resources of `routes`.
    #[must_use]
    pub fn new(name: &'static str, routes: Routes) -> Self {
        Self {
            name,
            tables: vec![SharedTable::new(routes.build())],
            paths: Vec::new(),
            unlisted_paths: Vec::new(),
            start_hooks: Vec::new(),
            stop_hooks: Vec::new(),
            checks: Vec::new(),
            delegate: None,
        }
    }

    /// The server's name, e.g. `core`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Adds a table that is changed while serving and searched before the others of the server. Returns it.
    pub fn add_table_before(&mut self) -> SharedTable {
        let table = SharedTable::new(Routes::new().build());
        self.tables.insert(0, table.clone());
        table
    }

    /// Adds a table that is changed while serving and searched after the others of the server. Returns it.
    pub fn add_table_after(&mut self) -> SharedTable {
        let table = SharedTable::new(Routes::new().build());
        self.tables.push(table.clone());
        table
    }

    /// The tables of this server and of its delegates, outermost first.
    #[must_use]
    pub fn tables(&self) -> Vec<SharedTable> {
        let mut tables = self.tables.clone();
        tables.extend(self.delegate.iter().flat_map(|delegate| delegate.tables()));
        tables
    }

    /// Adds a path outside `/api` and `/apis`, in axum's syntax, and lists it at `/`.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>, handler: MethodRouter) -> Self {
        self.paths.push((path.into(), handler));
        self
    }

    /// As [`with_path`](Self::with_path), for a path that the list at `/` of kube-apiserver does not have.
    #[must_use]
    pub fn with_unlisted_path(mut self, path: impl Into<String>, handler: MethodRouter) -> Self {
        self.unlisted_paths.push((path.into(), handler));
        self
    }

    /// Adds work that runs when the server listens. Hooks run concurrently, except those that come [`Hook::after`]
    /// others; health checks list the hooks of delegates first, then this server's in the order of adding.
    ///
    /// Until the hook is done, `/readyz` and `/livez` fail with `poststarthook/NAME`. The server stops if the hook
    /// fails.
    #[must_use]
    pub fn with_start_hook(mut self, hook: Hook) -> Self {
        self.start_hooks.push(hook);
        self
    }

    /// Adds work that runs before the server stops listening, in the order of adding, before the hooks of delegates.
    #[must_use]
    pub fn with_stop_hook(mut self, hook: Hook) -> Self {
        self.stop_hooks.push(hook);
        self
    }

    /// Adds a health check.
    #[must_use]
    pub fn with_check(mut self, check: HealthCheck) -> Self {
        self.checks.push(check);
        self
    }

    /// Puts the server in front of another one, to which it delegates the requests that it does not serve.
    #[must_use]
    pub fn in_front_of(mut self, delegate: ApiServer) -> Self {
        self.delegate = Some(Box::new(delegate));
        self
    }

    /// Merges the whole chain; `installation` answers at its end.
    pub(crate) fn merge(self, installation: &Installation) -> Merged {
        let mut merged = match self.delegate {
            Some(delegate) => delegate.merge(installation),
            None => Merged {
                router: end_of_chain(installation),
                end: end_of_chain(installation),
                tables: Vec::new(),
                paths: Vec::new(),
                start_hooks: Vec::new(),
                stop_hooks: Vec::new(),
                checks: Vec::new(),
            },
        };
        if !self.paths.is_empty() || !self.unlisted_paths.is_empty() {
            let unlisted = self.unlisted_paths.into_iter();
            let mut own = unlisted.fold(Router::new(), |own, (path, handler)| own.route(&path, handler));
            for (path, handler) in self.paths {
                own = own.route(&path, handler);
                merged.paths.push(path);
            }
            merged.router = own.fallback_service(merged.router);
        }
        merged.tables.splice(0..0, self.tables);
        merged.start_hooks.extend(self.start_hooks);
        merged.stop_hooks.splice(0..0, self.stop_hooks);
        merged.checks.extend(self.checks);
        merged
    }
}
