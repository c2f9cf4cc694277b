//! Objects that a control plane makes for itself at start, as hooks in a fixed order.

mod system_namespaces;

use planesmith_server::chain::ApiServer;
use planesmith_server::stores::Stores;

use crate::loopback::Loopback;

/// Adds the hooks for the kinds that the server has.
#[must_use]
pub fn with_bootstrap(server: ApiServer, stores: &Stores, loopback: &Loopback) -> ApiServer {
    match system_namespaces::hook(stores, loopback) {
        Some(hook) => server.with_start_hook(hook),
        None => server,
    }
}
