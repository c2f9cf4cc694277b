//! Objects that a control plane makes for itself at start, as hooks in a fixed order.

mod system_namespaces;
mod system_priority_classes;

use planesmith_server::chain::ApiServer;
use planesmith_server::stores::Stores;

use crate::loopback::Loopback;

/// Adds the hooks for the kinds that the server has.
#[must_use]
pub fn with_bootstrap(server: ApiServer, stores: &Stores, loopback: &Loopback) -> ApiServer {
    let hooks = [
        system_namespaces::hook(stores, loopback),
        system_priority_classes::hook(stores, loopback),
    ];
    hooks.into_iter().flatten().fold(server, ApiServer::with_start_hook)
}
