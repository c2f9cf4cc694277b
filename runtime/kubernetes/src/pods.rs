//! The subresources of pods beyond reading and writing: binding to nodes, and eviction.

mod binding;
mod conditions;
mod eviction;
pub(crate) mod references;

use std::sync::Arc;

use planesmith_api_defs::core::v1::Pod;
use planesmith_server::stores::Stores;
use planesmith_server::verbs::ObjectPart;

use self::binding::Bindings;
use self::eviction::Evictions;

/// `pods/ephemeralcontainers`.
const EPHEMERAL_CONTAINERS: ObjectPart<Pod> = ObjectPart {
    resets: &[],
    prepare: Pod::keep_all_but_ephemeral_containers,
    check: Pod::check_ephemeral_containers,
};

/// `pods/resize`.
const RESIZE: ObjectPart<Pod> = ObjectPart {
    resets: &[],
    prepare: Pod::keep_all_but_resources,
    check: Pod::check_resize,
};

/// Registers the handlers of the subresources of pods. To be called before the kinds are installed.
pub(crate) fn handle_subresources(stores: &Stores) {
    let store = |group, version, plural| {
        let facts = stores.scheme().resource(group, version, plural);
        facts.map(|facts| stores.resource(facts))
    };
    stores.handle("", "pods", "ephemeralcontainers", Arc::new(EPHEMERAL_CONTAINERS));
    stores.handle("", "pods", "resize", Arc::new(RESIZE));
    let Some(pods) = store("", "v1", "pods") else { return };
    let bindings = Arc::new(Bindings::new(Arc::clone(&pods)));
    stores.answer("", "bindings", Arc::clone(&bindings) as Arc<_>);
    stores.handle("", "pods", "binding", bindings);
    let budgets = store("policy", "v1", "poddisruptionbudgets");
    stores.handle(
        "",
        "pods",
        "eviction",
        Arc::new(Evictions::new(pods, budgets, Arc::clone(stores.scheme()))),
    );
}
