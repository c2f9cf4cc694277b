//! Custom resources: what is defined is served, as soon as its names are accepted.

mod controller;

use planesmith_extensions::{CustomResources, Definitions, KnownFacts, SchemaChecks};
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use planesmith_server::chain::ApiServer;
use planesmith_server::hooks::Hook;
use planesmith_server::stores::Stores;

use crate::loopback::Loopback;
use controller::DefinitionController;

/// The API-extensions server; it serves what is defined if the program has definitions.
#[must_use]
pub(crate) fn extensions(stores: &Stores, loopback: &Loopback) -> ApiServer {
    let server = planesmith_extensions::server();
    let Some(kind) = definition_kind(stores.scheme()) else {
        return server;
    };
    let facts = KnownFacts::new(|| Box::new(SchemaChecks));
    let definitions = Definitions::new(stores, CustomResources::of(&server), facts);
    let controller = DefinitionController::new(stores.resource(kind), definitions, loopback);
    server.with_start_hook(Hook::new(
        "start-apiextensions-controllers",
        move |shutdown| async move {
            controller.start(shutdown).await;
            Ok(())
        },
    ))
}

/// The kind of definitions in their storage version.
fn definition_kind(scheme: &Scheme) -> Option<&'static ResourceFacts> {
    let kind = scheme.kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")?;
    Some(kind.hub())
}
