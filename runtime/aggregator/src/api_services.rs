//! APIServices: the group versions, and the servers that serve them.
//!
//! Reading order: [`autoregistration`] (APIServices of this chain of servers), [`follower`] (routes and probes for all
//! APIServices), [`availability`] (the state of an external server).

mod autoregistration;
mod availability;
mod follower;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use planesmith_api_defs::apiregistration::v1::APIService;
use planesmith_control_plane::component::ChainContext;
use planesmith_control_plane::outbound::Network;
use planesmith_control_plane::reconciler;
use planesmith_control_plane::resource_client::ResourceClient;
use planesmith_server::chain::ApiServer;
use planesmith_server::discovery::ListedGroup;
use planesmith_server::health::HealthCheck;
use planesmith_server::hooks::Hook;
use planesmith_server::stores::ResourceStore;

use self::autoregistration::AutoRegistration;
use self::follower::{Follower, NamesService};
use crate::{Aggregator, AggregatorConfig, GROUP};

const API_VERSION: &str = "apiregistration.k8s.io/v1";

/// Work of the follower that kube-apiserver does in hooks of their own.
const FOLLOWER_PARTS: &[&str] = &[
    "start-kube-aggregator-informers",
    "apiservice-status-local-available-controller",
    "apiservice-status-remote-available-controller",
    "apiservice-discovery-controller",
    "apiservice-openapi-controller",
    "apiservice-openapiv3-controller",
];

/// Adds the group versions of other servers to `server`, the aggregator. Without APIServices it passes everything on.
pub(crate) fn aggregating(mut server: ApiServer, context: &ChainContext<'_>) -> ApiServer {
    let stores = context.server.stores;
    let Some(facts) = stores.scheme().resource(GROUP, "v1", "apiservices") else {
        return server;
    };
    let of = |group, version, plural| ResourceClient::of(stores, context.server.loopback, group, version, plural);
    let Some(api_services) = of(GROUP, "v1", "apiservices") else {
        return server;
    };
    let store = stores.resource(facts);
    let own = context.served.iter().filter(|version| version.group == GROUP);
    let own = ListedGroup {
        name: GROUP.to_owned(),
        versions: own.map(|version| version.version.to_owned()).collect(),
    };
    let config = AggregatorConfig {
        directory: context.directory.clone(),
        openapi: context.openapi.clone(),
        resolver: Arc::clone(context.services) as Arc<_>,
        dialer: context.server.outbound.dialer(Network::Cluster).clone(),
        identity: Some(context.proxy_client.clone()),
        rejects_redirects: context.server.options.aggregation.aggregator_reject_forwarding_redirect,
    };
    let aggregator = Aggregator::new(&mut server, own, config);
    // Before the first request: group versions of external servers must not be missing.
    register_all(&aggregator, &store);
    let service_sources = [
        (of("", "v1", "services"), NamesService::Itself),
        (of("", "v1", "endpoints"), NamesService::Itself),
        (of("discovery.k8s.io", "v1", "endpointslices"), NamesService::InLabel),
    ];
    let service_sources = service_sources
        .into_iter()
        .filter_map(|(objects, names)| Some((objects?, names)));
    let service_sources = service_sources.collect();
    let registration = AutoRegistration::new(stores, context.server.loopback, &api_services, context.served);
    let check = completion_check(registration.built_in(), Arc::clone(&store));
    let (services, following) = (Arc::clone(context.services), aggregator.clone());
    let metrics = Arc::clone(&stores.options().metrics);
    let stored = Arc::clone(&store);
    let following_hook = Hook::new("apiservice-registration-controller", move |shutdown| async move {
        let follower = Follower {
            api_services,
            store,
            service_sources,
            aggregator: following,
            services,
            metrics,
            shutdown: shutdown.clone(),
            probes: Mutex::default(),
        };
        reconciler::start(follower, shutdown).await;
        Ok(())
    });
    server
        .with_start_hook(following_hook.with_parts(FOLLOWER_PARTS).installs_paths())
        .with_start_hook(Hook::new(
            "kube-apiserver-autoregistration",
            move |shutdown| async move {
                reconciler::start(registration, shutdown).await;
                register_all(&aggregator, &stored);
                aggregator.complete();
                Ok(())
            },
        ))
        .with_check(check)
}

/// Registers all stored APIServices with the aggregator, without waiting for the follower.
fn register_all(aggregator: &Aggregator, store: &ResourceStore) {
    for api_service in store.all::<APIService>() {
        let name = api_service.metadata.name;
        let read = || {
            let key = store.key("", &name).ok()?;
            store.typed(&*store.collection().get(&key)?)
        };
        settle(read, |api_service| match api_service {
            Some(api_service) => drop(aggregator.set(follower::registration(api_service))),
            None => aggregator.remove(&name),
        });
    }
}

/// Reports an APIService to `tell`, and again if it has changed meanwhile: the follower may have reported that change
/// before, and does not do so again.
fn settle(read: impl Fn() -> Option<APIService>, tell: impl Fn(Option<&APIService>)) {
    let mut now = read();
    loop {
        tell(now.as_ref());
        let reported = now;
        now = read();
        if now == reported {
            return;
        }
    }
}

/// Fails until each of the APIServices in `names` has been available once.
fn completion_check(names: Vec<String>, store: Arc<ResourceStore>) -> HealthCheck {
    let pending: Mutex<BTreeSet<String>> = Mutex::new(names.into_iter().collect());
    HealthCheck::new("autoregister-completion", move || {
        let mut pending = pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.retain(|name| {
            let entry = store.key("", name).ok().and_then(|key| store.collection().get(&key));
            let api_service = entry.and_then(|entry| store.typed(&entry));
            !api_service.is_some_and(|api_service| follower::is_available(&api_service))
        });
        match pending.is_empty() {
            true => Ok(()),
            false => {
                let missing: Vec<&str> = pending.iter().map(String::as_str).collect();
                Err(format!("missing APIService: [{}]", missing.join(" ")))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn a_service_deleted_during_its_report_does_not_come_back() {
        let at = |version: &str| {
            let mut api_service = APIService::default();
            version.clone_into(&mut api_service.metadata.resource_version);
            api_service
        };
        for (stored, reported) in [
            (vec![Some("1")], vec![Some("1")]),
            (vec![Some("1"), None], vec![Some("1"), None]),
            (vec![Some("1"), Some("2")], vec![Some("1"), Some("2")]),
        ] {
            // The last state stays.
            let mut states = stored.into_iter().rev().collect::<Vec<_>>();
            let states = RefCell::new(&mut states);
            let read = || {
                let mut states = states.borrow_mut();
                let next = if states.len() > 1 {
                    states.pop()
                } else {
                    states.last().copied()
                };
                next.flatten().map(at)
            };
            let said = RefCell::new(Vec::new());
            settle(read, |now| {
                let version = now.map(|now| now.metadata.resource_version.clone());
                said.borrow_mut().push(version);
            });
            let reported: Vec<_> = reported.into_iter().map(|version| version.map(str::to_owned)).collect();
            assert_eq!(said.into_inner(), reported);
        }
    }
}
