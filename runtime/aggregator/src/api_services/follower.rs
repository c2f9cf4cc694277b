//! Follows APIServices: registers them with the aggregator, and probes external servers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use planesmith_api_defs::apiregistration::v1::APIService;
use planesmith_control_plane::loopback::LoopbackError;
use planesmith_control_plane::reconciler::Reconcile;
use planesmith_control_plane::resource_client::ResourceClient;
use planesmith_control_plane::service_resolver::ServicePort;
use planesmith_control_plane::service_resolver::{SERVICE_NAME, ServiceResolver};
use planesmith_server::discovery::VersionPriority;
use planesmith_server::metrics::SharedMetrics;
use planesmith_server::shutdown::Shutdown;
use planesmith_server::stores::ResourceStore;
use planesmith_store::{Entry, Event};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use super::availability::Availability;
use crate::{Aggregator, Backend, Registration, Remote, RemoteTrust};

/// The time between probes of a server that answers, or that only a change of objects can bring back.
const PROBE_INTERVAL: Duration = Duration::from_secs(10);

/// The time between probes of a server that does not answer: it may be back at any moment.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// The shortest time between two probes, however many requests fail.
const PAUSE: Duration = Duration::from_millis(100);

/// Turns APIServices into routes, and reports in their status if the servers are available.
pub(super) struct Follower {
    pub(super) api_services: ResourceClient,
    pub(super) store: Arc<ResourceStore>,
    /// The kinds of objects through which a server is found. Their changes may make it available or unavailable.
    pub(super) service_sources: Vec<(ResourceClient, NamesService)>,
    pub(super) aggregator: Aggregator,
    pub(super) services: Arc<dyn ServiceResolver>,
    pub(super) metrics: SharedMetrics,
    pub(super) shutdown: Shutdown,
    pub(super) probes: Mutex<BTreeMap<String, AvailabilityProbe>>,
}

/// The place in an object that names its service.
#[derive(Clone, Copy)]
pub(super) enum NamesService {
    /// Its own name.
    Itself,
    /// Its label [`SERVICE_NAME`].
    InLabel,
}

/// The availability probe of one server; stops when dropped.
pub(super) struct AvailabilityProbe {
    service: ServicePort,
    backend: Arc<Backend>,
    nudge: Arc<Notify>,
    task: AbortHandle,
}

impl Drop for AvailabilityProbe {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Follower {
    fn get(&self, name: &str) -> Option<APIService> {
        let key = self.store.key("", name).ok()?;
        self.store.typed(&*self.store.collection().get(&key)?)
    }

    fn probes(&self) -> MutexGuard<'_, BTreeMap<String, AvailabilityProbe>> {
        self.probes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the probe of an APIService's server, replacing one of a former server.
    fn start_probe(&self, name: &str, service: ServicePort, backend: Arc<Backend>) {
        let mut probes = self.probes();
        let known = probes.get(name);
        if known.is_some_and(|known| Arc::ptr_eq(&known.backend, &backend)) {
            return;
        }
        let nudge = Arc::new(Notify::new());
        let watch = Watch {
            name: name.to_owned(),
            service: service.clone(),
            backend: Arc::clone(&backend),
            nudge: Arc::clone(&nudge),
            api_services: self.api_services.clone(),
            services: Arc::clone(&self.services),
            metrics: Arc::clone(&self.metrics),
            aggregator: self.aggregator.clone(),
        };
        let task = tokio::spawn(watch.run(self.shutdown.clone())).abort_handle();
        let probe = AvailabilityProbe {
            service,
            backend,
            nudge,
            task,
        };
        probes.insert(name.to_owned(), probe);
    }

    /// Requests an immediate probe of servers behind a service.
    fn probe_now(&self, namespace: &str, service: &str) {
        for probe in self.probes().values() {
            if (namespace, service) == (&*probe.service.namespace, &*probe.service.name) {
                probe.nudge.notify_one();
            }
        }
    }
}

impl Reconcile for Follower {
    const NAME: &'static str = "availability of a group version";

    fn watched(&self) -> Vec<&ResourceClient> {
        let service_sources = self.service_sources.iter().map(|(objects, _)| objects);
        std::iter::once(&self.api_services).chain(service_sources).collect()
    }

    fn all(&self) -> Vec<String> {
        // Including APIServices that were deleted before they were followed.
        let mut names = self.aggregator.names();
        names.extend(self.api_services.names());
        names
    }

    fn touched_by(&self, kind: usize, event: &Event) -> Vec<String> {
        let (namespace, name) = self.watched()[kind].names_of(event.entry());
        let Some((_, names)) = kind.checked_sub(1).and_then(|source| self.service_sources.get(source)) else {
            let of = |entry: &Arc<Entry>| self.store.typed::<APIService>(entry);
            if requests_probe(event.previous().and_then(of), of(event.entry()))
                && let Some(probe) = self.probes().get(name)
            {
                probe.nudge.notify_one();
            }
            return vec![name.to_owned()];
        };
        match names {
            NamesService::Itself => self.probe_now(namespace, name),
            NamesService::InLabel => {
                // A slice whose label changed concerns its former service, too.
                let states = event.previous().into_iter().chain([event.entry()]);
                for service in states.filter_map(|entry| entry.row().label(SERVICE_NAME)) {
                    self.probe_now(namespace, service);
                }
            }
        }
        Vec::new()
    }

    async fn reconcile(&self, name: &str) -> Result<(), LoopbackError> {
        let Some(api_service) = self.get(name) else {
            self.probes().remove(name);
            self.aggregator.remove(name);
            self.metrics.api_services().forget(name);
            return Ok(());
        };
        let said = is_available(&api_service);
        let registration = registration(&api_service);
        let service = registration.remote.as_ref().map(|remote| remote.service.clone());
        match self.aggregator.set(registration).zip(service) {
            Some((backend, service)) => {
                let is_wrong = said != backend.is_available();
                self.start_probe(name, service, backend);
                if is_wrong && let Some(probe) = self.probes().get(name) {
                    // Another writer wrote it, or it is about to be written.
                    probe.nudge.notify_one();
                }
                Ok(())
            }
            None => {
                self.probes().remove(name);
                let availability = Availability::local();
                self.metrics.api_services().show(name, said, availability.outcome());
                availability.report(&self.api_services, name).await
            }
        }
    }
}

/// True if the change of an APIService is a reason to probe its server at once. A change of the status alone is none: it is the
/// result of a probe.
fn requests_probe(before: Option<APIService>, now: Option<APIService>) -> bool {
    let without_status = |api_service: APIService| {
        let mut metadata = api_service.metadata;
        metadata.resource_version.clear();
        metadata.managed_fields.clear();
        (metadata, api_service.spec)
    };
    before.map(without_status) != now.map(without_status)
}

/// Returns the registration of an APIService with the aggregator.
pub(super) fn registration(api_service: &APIService) -> Registration {
    let spec = &api_service.spec;
    let remote = spec.service.as_ref().map(|service| Remote {
        service: ServicePort {
            namespace: service.namespace.clone(),
            name: service.name.clone(),
            port: service.port.and_then(|port| u16::try_from(port).ok()).unwrap_or(443),
        },
        trust: match (spec.insecure_skip_tls_verify, spec.ca_bundle.is_empty()) {
            (true, _) => RemoteTrust::Anyone,
            (false, true) => RemoteTrust::System,
            (false, false) => RemoteTrust::Bundle(spec.ca_bundle.to_vec()),
        },
        is_available: is_available(api_service),
    });
    Registration {
        name: api_service.metadata.name.clone(),
        priority: VersionPriority {
            group: spec.group.clone(),
            version: spec.version.clone(),
            group_priority: spec.group_priority_minimum,
            version_priority: spec.version_priority,
        },
        remote,
    }
}

/// True if the status says that the server gets requests.
pub(super) fn is_available(api_service: &APIService) -> bool {
    let mut conditions = api_service.status.conditions.iter();
    conditions.any(|condition| condition.type_ == "Available" && condition.status == "True")
}

/// Probes one server periodically.
struct Watch {
    name: String,
    service: ServicePort,
    backend: Arc<Backend>,
    nudge: Arc<Notify>,
    api_services: ResourceClient,
    services: Arc<dyn ServiceResolver>,
    metrics: SharedMetrics,
    aggregator: Aggregator,
}

impl Watch {
    async fn run(self, mut shutdown: Shutdown) {
        let mut unread_wait = RETRY_INTERVAL;
        loop {
            let wait = match Availability::of(&*self.services, &self.service, &self.backend).await {
                Some(availability) => self.show(&availability, &mut unread_wait).await,
                None => PROBE_INTERVAL,
            };
            tokio::select! {
                () = shutdown.requested() => return,
                () = tokio::time::sleep(wait) => {}
                () = self.nudge.notified() => {}
                () = self.backend.forwarding_failed() => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    /// Applies the availability and reports it. Returns the time until the next probe.
    async fn show(&self, availability: &Availability, unread_wait: &mut Duration) -> Duration {
        // Discovery lists the resources before the status says that the server is available.
        let is_read = !availability.is_available() || self.aggregator.refresh(&self.name).await;
        let known = self.api_services.get_typed::<APIService>("", &self.name);
        let said = known.is_some_and(|known| is_available(&known));
        self.metrics
            .api_services()
            .show(&self.name, said, availability.outcome());
        // Requests are passed on before the status says that the server is available.
        let is_available = availability.is_available();
        self.aggregator.set_available(&self.name, &self.backend, is_available);
        let reported = availability.report(&self.api_services, &self.name).await;
        if let Err(error) = &reported {
            tracing::warn!(name = self.name, %error, "the status of an APIService cannot be written");
        }
        let wait = match () {
            () if reported.is_err() || (availability.passes() && !is_available) => RETRY_INTERVAL,
            () if !is_read => *unread_wait,
            () => PROBE_INTERVAL,
        };
        *unread_wait = if is_read {
            RETRY_INTERVAL
        } else {
            PROBE_INTERVAL.min(*unread_wait * 2)
        };
        wait
    }
}

#[cfg(test)]
mod tests;
