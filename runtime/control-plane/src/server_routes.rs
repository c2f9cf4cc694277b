//! The declared kinds that each server of the chain serves.

use planesmith_server::routes::Routes;
use planesmith_server::stores::Stores;

use crate::enablement::Enablement;
use crate::group_version::GroupVersion;
use crate::program::Program;

/// The routes of the servers of a chain. A component's own server has the kinds of its groups, the core server all others.
pub(crate) struct ServerRoutes {
    pub(crate) core: Routes,
    /// Those of the components' own servers, in the order of the program's components.
    pub(crate) components: Vec<Routes>,
}

impl ServerRoutes {
    /// Installs the group versions and resources of `program` that are on.
    pub(crate) fn install(program: &Program, stores: &Stores, enablement: &Enablement) -> Self {
        let empty = || {
            let enablement = enablement.clone();
            Routes::new().only(move |facts| enablement.resource(facts))
        };
        let mut routes = Self {
            core: empty(),
            components: program.components.iter().map(|_| empty()).collect(),
        };
        let groups = program.all_groups();
        for group_version in groups.filter(|group| enablement.version(group)) {
            let mut components = program.components.iter();
            let own = components.position(|component| component.server_groups().contains(&group_version.group));
            let server = match own {
                Some(own) => &mut routes.components[own],
                None => &mut routes.core,
            };
            (group_version.install)(server, stores);
        }
        routes
    }

    /// Returns the group versions of `program` that have a route. Versions that only exist for conversions have none.
    pub(crate) fn served(&self, program: &Program) -> Vec<GroupVersion> {
        let groups = program.all_groups().copied();
        groups.filter(|group| self.serves(group.group, group.version)).collect()
    }

    /// True if a resource of a group version is served.
    pub(crate) fn serves(&self, group: &str, version: &str) -> bool {
        let mut all = self.components.iter().chain([&self.core]);
        all.any(|routes| routes.serves(group, version))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use planesmith_store::{MemoryLog, Storage, StorageOptions};

    use super::*;
    use crate::component::Component;
    use crate::feature_gates::FeatureGates;
    use crate::options::Switches;
    use crate::program::Documents;

    #[derive(Debug)]
    struct LeaseServer;

    impl Component for LeaseServer {
        fn server_groups(&self) -> &'static [&'static str] {
            &["coordination.k8s.io"]
        }
    }

    #[derive(Debug)]
    struct WithoutServer;

    impl Component for WithoutServer {}

    #[test]
    fn each_server_of_the_chain_serves_its_own_kinds() {
        let program = Program {
            name: "test",
            groups: &[],
            openapi: Documents::default(),
            admission: &[],
            components: &[&WithoutServer, &LeaseServer],
        };
        let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
        let stores = Stores::new(storage, Arc::new(program.scheme()));
        let groups = program.all_groups();
        let enablement = Enablement::new(groups, &Switches::default(), &FeatureGates::default()).unwrap();
        let routes = ServerRoutes::install(&program, &stores, &enablement);
        let [without, of_leases] = &routes.components[..] else {
            panic!("{} servers", routes.components.len())
        };
        let servers = [&routes.core, without, of_leases];
        for (group, expected) in [
            ("", [true, false, false]),
            ("coordination.k8s.io", [false, false, true]),
        ] {
            assert_eq!(servers.map(|server| server.serves(group, "v1")), expected, "{group}");
        }
        assert_eq!(routes.served(&program).len(), 2);
    }
}
