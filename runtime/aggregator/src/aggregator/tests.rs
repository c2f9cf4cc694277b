use planesmith_server::chain::ApiServer;
use planesmith_server::discovery::{GroupDirectory, VersionPriority};
use planesmith_server::openapi::OpenApi;
use planesmith_server::proxy::{Destination, Dialer};
use planesmith_server::routes::Routes;

use super::*;
use crate::registration::RemoteTrust;
use planesmith_control_plane::service_resolver::{Resolver, ServicePort};

struct NoServices;

impl Resolver for NoServices {
    fn resolve(&self, _service: &ServicePort) -> Result<Destination, String> {
        Err("nowhere".to_owned())
    }
}

fn aggregator(directory: &GroupDirectory) -> Aggregator {
    let own = ListedGroup {
        name: "apiregistration.k8s.io".to_owned(),
        versions: vec!["v1".to_owned()],
    };
    let config = AggregatorConfig {
        directory: directory.clone(),
        openapi: OpenApi::default(),
        resolver: Arc::new(NoServices),
        dialer: Dialer::default(),
        identity: None,
        rejects_redirects: false,
    };
    Aggregator::new(&mut ApiServer::new("aggregator", Routes::new()), own, config)
}

/// Returns a registration of the server at `port`.
fn registration(port: u16, is_available: bool) -> Registration {
    Registration {
        name: "v1.shop.example.com".to_owned(),
        priority: VersionPriority {
            group: "shop.example.com".to_owned(),
            version: "v1".to_owned(),
            group_priority: 1,
            version_priority: 1,
        },
        remote: Some(Remote {
            service: ServicePort {
                namespace: "default".to_owned(),
                name: "shop".to_owned(),
                port,
            },
            trust: RemoteTrust::Anyone,
            is_available,
        }),
    }
}

#[test]
fn the_newest_probe_counts() {
    let directory = GroupDirectory::default();
    let aggregator = aggregator(&directory);
    let is_current = || directory.load().remote[0].is_current;
    let backend = aggregator.set(registration(1, false)).expect("another server answers");
    assert!(!backend.is_available() && !is_current());
    aggregator.set_available("v1.shop.example.com", &backend, true);
    assert!(backend.is_available() && is_current());
    // This status was read before the availability was written.
    let mut stale = registration(1, false);
    stale.priority.version_priority = 2;
    let same = aggregator.set(stale).expect("another server answers");
    assert!(Arc::ptr_eq(&same, &backend) && backend.is_available() && is_current());
    assert_eq!(directory.load().remote[0].priority.version_priority, 2);
    // A new server starts with the status of its registration, and results for the previous server are ignored.
    let other = aggregator.set(registration(2, false)).expect("another server answers");
    aggregator.set_available("v1.shop.example.com", &backend, true);
    assert!(!other.is_available() && !is_current());
}

#[tokio::test]
async fn a_server_behind_unreadable_authorities_is_not_probed() {
    let aggregator = aggregator(&GroupDirectory::default());
    let probe = async |trust| {
        let mut registration = registration(1, false);
        registration.remote.as_mut().expect("another server answers").trust = trust;
        aggregator
            .set(registration)
            .expect("another server answers")
            .probe()
            .await
    };
    assert_eq!(probe(RemoteTrust::Bundle(b"hi".to_vec())).await, None);
    assert_eq!(probe(RemoteTrust::System).await, Some(Err("nowhere".to_owned())));
}

#[test]
fn a_local_registration_is_listed_at_once_and_shares_the_other_servers() {
    let directory = GroupDirectory::default();
    let aggregator = aggregator(&directory);
    aggregator.set(registration(1, true));
    aggregator.complete();
    let before = directory.load();
    let local = |group: &str| Registration {
        name: format!("v1.{group}"),
        priority: VersionPriority {
            group: group.to_owned(),
            version: "v1".to_owned(),
            group_priority: 1000,
            version_priority: 100,
        },
        remote: None,
    };
    assert!(!before.lists("rocks.example.com", "v1"));
    for group in ["rocks.example.com", "gone.example.com"] {
        assert!(aggregator.set(local(group)).is_none());
    }
    aggregator.remove("v1.gone.example.com");
    let after = directory.load();
    let names = |groups: &Groups| {
        let listed = groups.listed.iter().flat_map(|listed| listed.groups());
        listed.map(|group| group.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        names(&after),
        ["apiregistration.k8s.io", "rocks.example.com", "shop.example.com"]
    );
    assert!(after.lists("rocks.example.com", "v1") && after.lists("apiregistration.k8s.io", "v1"));
    assert!(!after.lists("gone.example.com", "v1") && !after.lists("rocks.example.com", "v2"));
    assert!(Arc::ptr_eq(&before.remote, &after.remote), "no other server changed");
    aggregator.remove("v1.shop.example.com");
    assert!(directory.load().remote.is_empty());
}
