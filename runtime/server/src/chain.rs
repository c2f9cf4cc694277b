//! Servers that answer what they know and pass on the rest.
//!
//! Every server has a route table for its resources, so that a resource costs a table entry and not a route, and an axum
//! router for its other paths. Delegation goes from table to table (module `resources`) and, for other paths,
//! by the routers' fallbacks. Hooks, health checks and paths of all servers are merged and shown by the outermost one.

mod end;
pub(crate) mod resources;
mod shared_table;

use axum::Router;
use axum::routing::MethodRouter;

pub use self::end::{Installation, Installing};
pub use self::shared_table::SharedTable;
use crate::health::HealthCheck;
use crate::hooks::Hook;
use crate::routes::Routes;

/// One server of the chain with those that it delegates to, while they are put together.
#[derive(Debug)]
pub struct ApiServer {
    name: &'static str,
    table: SharedTable,
    paths: Vec<(String, MethodRouter)>,
    start_hooks: Vec<Hook>,
    stop_hooks: Vec<Hook>,
    checks: Vec<HealthCheck>,
    delegate: Option<Box<ApiServer>>,
}

/// What the outermost server shows of the whole chain.
pub(crate) struct Merged {
    /// The paths of the chain that are no resources, as one router: each server falls back to its delegate.
    pub(crate) router: Router,
    /// What is said when nobody knows a path.
    pub(crate) end: Router,
    /// Tables from the outermost server to the innermost.
    pub(crate) tables: Vec<SharedTable>,
    pub(crate) paths: Vec<String>,
    /// In the order in which they run: those of delegates first.
    pub(crate) start_hooks: Vec<Hook>,
    pub(crate) stop_hooks: Vec<Hook>,
    pub(crate) checks: Vec<HealthCheck>,
}

impl ApiServer {
    /// A server that answers for the resources of `routes`.
    #[must_use]
    pub fn new(name: &'static str, routes: Routes) -> Self {
        Self {
            name,
            table: SharedTable::new(routes.build()),
            paths: Vec::new(),
            start_hooks: Vec::new(),
            stop_hooks: Vec::new(),
            checks: Vec::new(),
            delegate: None,
        }
    }

    /// E.g. `core`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The table that the server looks into, to be swapped while serving.
    #[must_use]
    pub fn table(&self) -> SharedTable {
        self.table.clone()
    }

    /// The tables of this server and of those that it delegates to, outermost first.
    #[must_use]
    pub fn tables(&self) -> Vec<SharedTable> {
        let mut tables = vec![self.table()];
        let mut next = self.delegate.as_deref();
        while let Some(server) = next {
            tables.push(server.table());
            next = server.delegate.as_deref();
        }
        tables
    }

    /// Adds a path outside `/api` and `/apis`, in axum's syntax, and lists it at `/`.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>, handler: MethodRouter) -> Self {
        self.paths.push((path.into(), handler));
        self
    }

    /// Adds work to be done when the server listens. Hooks run at once, but for those that come [`Hook::after`] others;
    /// checks show those of delegates first, then in the order of adding.
    ///
    /// Until it is done `/readyz` and `/livez` fail with `poststarthook/NAME`; if it fails the server stops.
    #[must_use]
    pub fn with_start_hook(mut self, hook: Hook) -> Self {
        self.start_hooks.push(hook);
        self
    }

    /// Adds work to be done before the server stops to listen, in the order of adding, before that of delegates.
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

    /// Puts the server in front of another one, to which it passes what it does not know.
    #[must_use]
    pub fn in_front_of(mut self, delegate: ApiServer) -> Self {
        self.delegate = Some(Box::new(delegate));
        self
    }

    /// The whole chain with the answer of `installation` at its end.
    pub(crate) fn merge(self, installation: &Installation) -> Merged {
        let mut merged = match self.delegate {
            Some(delegate) => delegate.merge(installation),
            None => Merged {
                router: installation.end_of_chain(),
                end: installation.end_of_chain(),
                tables: Vec::new(),
                paths: Vec::new(),
                start_hooks: Vec::new(),
                stop_hooks: Vec::new(),
                checks: Vec::new(),
            },
        };
        if !self.paths.is_empty() {
            let mut own = Router::new();
            for (path, handler) in self.paths {
                own = own.route(&path, handler);
                merged.paths.push(path);
            }
            merged.router = own.fallback_service(merged.router);
        }
        merged.tables.insert(0, self.table);
        merged.start_hooks.extend(self.start_hooks);
        merged.stop_hooks.splice(0..0, self.stop_hooks);
        merged.checks.extend(self.checks);
        merged
    }
}
