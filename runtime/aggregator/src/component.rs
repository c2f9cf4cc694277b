//! The contribution of this crate to a server.

use std::sync::Arc;

use anyhow::Result;
use planesmith_api_defs::apiregistration::v1::APIService;
use planesmith_control_plane::component::{ChainContext, ChainedServer};
use planesmith_control_plane::{Component, GroupVersion};
use planesmith_server::chain::ApiServer;
use planesmith_server::routes::Routes;

use crate::GROUP;
use crate::api_services::Aggregation;

/// The component of a program that aggregates: its aggregation server serves APIServices, and passes requests for their group
/// versions on.
pub const COMPONENT: &dyn Component = &AggregatorComponent;

const GROUPS: [GroupVersion; 1] = [GroupVersion {
    group: GROUP,
    version: "v1",
    on_by_default: true,
    register: |scheme| {
        scheme.add::<APIService>();
    },
    install: |routes, stores| routes.serve::<APIService>(stores),
}];

#[derive(Clone, Copy, Debug)]
struct AggregatorComponent;

impl Component for AggregatorComponent {
    fn groups(&self) -> &'static [GroupVersion] {
        &GROUPS
    }

    fn server_groups(&self) -> &'static [&'static str] {
        &[GROUP]
    }

    fn server(&self, routes: Routes, context: &ChainContext<'_>) -> Result<Option<ChainedServer>> {
        let aggregation = Aggregation {
            stores: context.server.stores,
            loopback: context.server.loopback,
            served: context.served,
            directory: context.directory,
            openapi: context.openapi,
            services: Arc::clone(context.services),
            identity: Some(context.proxy_client.clone()),
            rejects_redirects: context.server.options.aggregation.aggregator_reject_forwarding_redirect,
        };
        let server = aggregation.add_to(ApiServer::new("aggregator", routes));
        Ok(Some(ChainedServer::BeforeCore(server)))
    }
}
