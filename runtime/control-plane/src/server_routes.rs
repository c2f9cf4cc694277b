//! The declared kinds that each server of the chain serves.

use planesmith_server::routes::Routes;
use planesmith_server::stores::Stores;

use crate::base_groups;
use crate::enablement::Enablement;
use crate::program::{GroupVersion, Program};

/// The routes of the servers of a chain. Each server has the kinds that it works with: APIServices are served by the
/// aggregator, definitions by the extensions server, and all others by the core server.
pub(crate) struct ServerRoutes {
    pub(crate) aggregator: Routes,
    pub(crate) core: Routes,
    pub(crate) extensions: Routes,
}

impl ServerRoutes {
    /// Installs the group versions and resources of `program` that are on.
    pub(crate) fn install(program: &Program, stores: &Stores, enablement: &Enablement) -> Self {
        let empty = || {
            let enablement = enablement.clone();
            Routes::new().only(move |facts| enablement.resource(facts))
        };
        let mut routes = Self {
            aggregator: empty(),
            core: empty(),
            extensions: empty(),
        };
        let groups = base_groups::with_groups_of(program);
        for group_version in groups.filter(|group| enablement.version(group)) {
            let server = match group_version.group {
                planesmith_aggregator::GROUP => &mut routes.aggregator,
                planesmith_extensions::GROUP => &mut routes.extensions,
                _ => &mut routes.core,
            };
            (group_version.install)(server, stores);
        }
        routes
    }

    /// Returns the group versions of `program` that have a route. Versions that only exist for conversions have none.
    pub(crate) fn served(&self, program: &Program) -> Vec<GroupVersion> {
        let groups = base_groups::with_groups_of(program).copied();
        groups.filter(|group| self.serves(group.group, group.version)).collect()
    }

    /// True if a resource of a group version is served.
    pub(crate) fn serves(&self, group: &str, version: &str) -> bool {
        let all = [&self.aggregator, &self.core, &self.extensions];
        all.iter().any(|routes| routes.serves(group, version))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use planesmith_api_defs::apiextensions::v1::CustomResourceDefinition;
    use planesmith_api_defs::apiregistration::v1::APIService;
    use planesmith_machinery::scheme::Scheme;
    use planesmith_store::{MemoryLog, Storage, StorageOptions};

    use super::*;
    use crate::feature_gates::FeatureGates;
    use crate::options::Switches;
    use crate::program::Documents;

    const GROUPS: &[GroupVersion] = &[
        GroupVersion {
            group: "apiregistration.k8s.io",
            version: "v1",
            on_by_default: true,
            register: |scheme| {
                scheme.add::<APIService>();
            },
            install: |routes, stores| routes.serve::<APIService>(stores),
        },
        GroupVersion {
            group: "apiextensions.k8s.io",
            version: "v1",
            on_by_default: true,
            register: |scheme| {
                scheme.add::<CustomResourceDefinition>();
            },
            install: |routes, stores| routes.serve::<CustomResourceDefinition>(stores),
        },
    ];

    #[test]
    fn each_server_of_the_chain_serves_its_own_kinds() {
        let program = Program {
            name: "test",
            groups: GROUPS,
            openapi: Documents::default(),
            admission: &[],
            components: &[],
        };
        let mut scheme = Scheme::new();
        for group_version in base_groups::with_groups_of(&program) {
            (group_version.register)(&mut scheme);
        }
        let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
        let stores = Stores::new(storage, Arc::new(scheme));
        let groups = base_groups::with_groups_of(&program);
        let enablement = Enablement::new(groups, &[], &Switches::default(), &FeatureGates::default()).unwrap();
        let routes = ServerRoutes::install(&program, &stores, &enablement);
        let servers = [&routes.aggregator, &routes.core, &routes.extensions];
        for (group, expected) in [
            ("apiregistration.k8s.io", [true, false, false]),
            ("", [false, true, false]),
            ("coordination.k8s.io", [false, true, false]),
            ("apiextensions.k8s.io", [false, false, true]),
        ] {
            assert_eq!(servers.map(|server| server.serves(group, "v1")), expected, "{group}");
        }
        assert_eq!(routes.served(&program).len(), 4);
    }
}
