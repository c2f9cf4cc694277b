//! What can be done with pods beyond reading and writing them: tying them to nodes, and getting rid of them gently.

mod binding;
mod conditions;
mod eviction;

use std::sync::Arc;

use planesmith_server::stores::Stores;

use self::binding::Bindings;
use self::eviction::Evictions;

/// Answers bindings and evictions. To be called before the kinds are installed.
pub(crate) fn handle_subresources(stores: &Stores) {
    let store = |group, version, plural| {
        let facts = stores.scheme().resource(group, version, plural);
        facts.map(|facts| stores.resource(facts))
    };
    let Some(pods) = store("", "v1", "pods") else { return };
    let bindings = Arc::new(Bindings::new(Arc::clone(&pods)));
    stores.answer("", "bindings", Arc::clone(&bindings) as Arc<_>);
    stores.handle("", "pods", "binding", bindings);
    let budgets = store("policy", "v1", "poddisruptionbudgets");
    stores.handle("", "pods", "eviction", Arc::new(Evictions::new(pods, budgets)));
}
