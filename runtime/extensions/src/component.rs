//! The contribution of this crate to a server.

use std::sync::Arc;

use anyhow::Result;
use planesmith_api_defs::apiextensions::v1::{CustomResourceDefinition, PRIORITY};
use planesmith_control_plane::component::{ChainContext, ChainedServer};
use planesmith_control_plane::{Component, GroupVersion};
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use planesmith_server::chain::ApiServer;
use planesmith_server::hooks::Hook;
use planesmith_server::routes::Routes;

use crate::GROUP;
use crate::checks::SchemaChecks;
use crate::custom::CustomResources;
use crate::definition_controller::DefinitionController;
use crate::definitions::Definitions;
use crate::facts::KnownFacts;
use crate::openapi::Templates;
use crate::webhook::Webhook;

/// The component of a program with custom resources: its API-extensions server serves definitions and their kinds.
pub const COMPONENT: &dyn Component = &ExtensionsComponent;

/// The OpenAPI documents of built-in groups that contain the schemas that custom kinds need.
const TEMPLATES: Templates = Templates {
    definitions: "apis/apiextensions.k8s.io/v1",
    metadata: "api/v1",
    scales: &["apis/autoscaling/v1", "apis/apps/v1"],
};

const GROUPS: [GroupVersion; 1] =
    [GroupVersion::of_kind::<CustomResourceDefinition>(GROUP, "v1").with_priority(PRIORITY)];

#[derive(Clone, Copy, Debug)]
struct ExtensionsComponent;

impl Component for ExtensionsComponent {
    fn groups(&self) -> &'static [GroupVersion] {
        &GROUPS
    }

    fn server_groups(&self) -> &'static [&'static str] {
        &[GROUP]
    }

    fn server(&self, routes: Routes, context: &ChainContext<'_>) -> Result<Option<ChainedServer>> {
        let mut server = ApiServer::new("extensions", routes);
        let stores = context.server.stores;
        if let Some(kind) = definition_kind(stores.scheme()) {
            let (services, outbound) = (Arc::clone(context.services), context.server.outbound.clone());
            let facts = KnownFacts::new(|| Arc::new(SchemaChecks::default()))
                .converting(move |definition| Webhook::from_definition(definition, &services, &outbound));
            let store = stores.resource(&kind);
            let custom = CustomResources::of(&mut server);
            let definitions = Definitions::new(stores, &store, custom, facts, (context.openapi, TEMPLATES));
            let controller = DefinitionController::new(store, definitions, context.server.loopback, context.directory);
            let hook = Hook::new("start-apiextensions-controllers", move |shutdown| async move {
                controller.start(shutdown).await;
                Ok(())
            });
            let hook = hook.with_parts(&["start-apiextensions-informers", "crd-informer-synced"]);
            server = server.with_start_hook(hook.installs_paths());
        }
        Ok(Some(ChainedServer::AfterCore(server)))
    }
}

/// The kind of definitions in their storage version.
fn definition_kind(scheme: &Scheme) -> Option<ResourceFacts> {
    let kind = scheme.kind(GROUP, "v1", "CustomResourceDefinition")?;
    Some(kind.hub())
}
