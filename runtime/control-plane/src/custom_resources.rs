//! Custom resources: definitions are served as soon as their names are accepted.

mod controller;
mod relocation;
mod remover;
mod webhook;

use std::sync::Arc;

use planesmith_extensions::{CustomResources, Definitions, KnownFacts, SchemaChecks, Templates};
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use planesmith_server::chain::ApiServer;
use planesmith_server::discovery::GroupDirectory;
use planesmith_server::hooks::Hook;
use planesmith_server::openapi::OpenApi;
use planesmith_server::routes::Routes;
use planesmith_server::stores::Stores;

use crate::loopback::Loopback;
use crate::service_resolver::ServiceResolver;
use controller::DefinitionController;
use webhook::Webhook;

/// The OpenAPI documents of built-in groups that contain the schemas that custom kinds need.
const TEMPLATES: Templates = Templates {
    definitions: "apis/apiextensions.k8s.io/v1",
    scales: &["apis/autoscaling/v1", "apis/apps/v1"],
};

/// Returns the API-extensions server of `routes`; it serves custom resources if the program has definitions.
#[must_use]
pub(crate) fn extensions(
    routes: Routes,
    stores: &Stores,
    loopback: &Loopback,
    (openapi, directory): (&OpenApi, &GroupDirectory),
    services: &Arc<dyn ServiceResolver>,
) -> ApiServer {
    let mut server = planesmith_extensions::server(routes);
    let Some(kind) = definition_kind(stores.scheme()) else {
        return server;
    };
    let of_webhooks = Arc::clone(services);
    let facts = KnownFacts::new(|| Arc::new(SchemaChecks::default()))
        .converting(move |definition| Webhook::of(definition, &of_webhooks));
    let store = stores.resource(&kind);
    let definitions = Definitions::new(
        stores,
        &store,
        CustomResources::of(&mut server),
        facts,
        (openapi, TEMPLATES),
    );
    let controller = DefinitionController::new(store, definitions, loopback, directory);
    let hook = Hook::new("start-apiextensions-controllers", move |shutdown| async move {
        controller.start(shutdown).await;
        Ok(())
    });
    server.with_start_hook(hook.installs_paths())
}

/// The kind of definitions in their storage version.
fn definition_kind(scheme: &Scheme) -> Option<ResourceFacts> {
    let kind = scheme.kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")?;
    Some(kind.hub())
}
