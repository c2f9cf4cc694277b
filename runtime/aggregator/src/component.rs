//! The contribution of this crate to a server.

use anyhow::Result;
use planesmith_api_defs::apiregistration::v1::{APIService, PRIORITY};
use planesmith_control_plane::component::{ChainContext, ChainedServer};
use planesmith_control_plane::{Component, GroupVersion};
use planesmith_server::chain::ApiServer;
use planesmith_server::routes::Routes;

use crate::{GROUP, api_services};

/// The component of a program that aggregates: its aggregation server serves APIServices, and passes requests for their group
/// versions on.
pub const COMPONENT: &dyn Component = &AggregatorComponent;

const GROUPS: [GroupVersion; 1] = [GroupVersion::of_kind::<APIService>(GROUP, "v1").with_priority(PRIORITY)];

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
        let server = api_services::aggregating(ApiServer::new("aggregator", routes), context);
        Ok(Some(ChainedServer::BeforeCore(server)))
    }
}
