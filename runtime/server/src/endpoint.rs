//! One kind in one version, as clients access it.
//!
//! Nothing here is instantiated per kind: an endpoint is data, and all endpoints run the same code over the tables of
//! their kinds.

mod converted;
mod create_handler;
mod offloaded;
mod recorded;
mod render;
mod render_list;
mod served;
mod source;
mod subresource;
mod write_check;

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use http::request::Parts;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::time::Time;
use planesmith_store::{Entry, Revision};

use crate::discovery::ServedResource;
use crate::encodings::Encodings;
use crate::metrics::ResourceMetrics;
use crate::offload::Turns;
use crate::representation::{self, Representation};
use crate::request::{Context, Query, Stage, Verb};
use crate::reservations::{ReleaseOnDelete, Reservations};
use crate::shutdown::Shutdown;
use crate::stores::{ResourceStore, Stores, stale};

pub(crate) use create_handler::CreateHandler;
pub(crate) use render::{PARTIAL_KIND, envelope, partial_api_version};
pub(crate) use render_list::ListPage;
pub use source::Source;
pub use subresource::{Subresource, Subresources};
pub use write_check::WriteCheck;

/// One kind in one version: its facts, its objects, and the state that requests for it share.
pub struct Endpoint {
    facts: ResourceFacts,
    representation: &'static dyn Representation,
    served: ServedResource,
    stores: Stores,
    store: Arc<ResourceStore>,
    encodings: Arc<Encodings>,
    subresources: Subresources,
    create_handler: Option<Arc<dyn CreateHandler>>,
    source: Option<Arc<dyn Source>>,
    reservations: Option<Arc<dyn Reservations>>,
    write_check: Option<Arc<dyn WriteCheck>>,
    metrics: ResourceMetrics,
    /// The reason that no object is created, for a kind that is being deleted; `None` for another one.
    terminating: Option<&'static str>,
    /// Signals that the kind is no longer served; `None` for a kind that is always served.
    end: Option<Shutdown>,
}

/// One request to an endpoint, without its body.
#[derive(Debug)]
pub struct Call {
    /// The context that travels with the request.
    pub ctx: Context,
    /// The head of the request.
    pub parts: Parts,
    /// Runs the request's expensive work; created for the first piece.
    turns: OnceLock<Turns>,
}

impl Call {
    /// Returns a call for a request that passed the filters with `ctx`.
    #[must_use]
    pub fn new(ctx: Context, parts: Parts) -> Self {
        Self {
            ctx,
            parts,
            turns: OnceLock::new(),
        }
    }

    /// The parameters of the query.
    #[must_use]
    pub fn query(&self) -> Query<'_> {
        Query::new(self.parts.uri.query().unwrap_or_default())
    }

    /// True if the server itself makes the request.
    pub(crate) fn is_internal(&self) -> bool {
        self.ctx.peer.is_none()
    }

    /// Refuses the parameter with which clients once requested an object without the fields that are of one cluster.
    ///
    /// # Errors
    ///
    /// 400 if the parameter is set.
    pub(crate) fn refuse_export(&self) -> ApiResult<()> {
        match self.query().flag("export") {
            Some(true) => Err(ApiError::bad_request(
                "the export parameter, deprecated since v1.14, is no longer supported",
            )),
            _ => Ok(()),
        }
    }

    /// Namespace in the path; empty for a request that is not namespaced.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.ctx.info.namespace()
    }

    /// Name in the path.
    #[must_use]
    pub fn name(&self) -> &str {
        self.ctx.info.path_name()
    }
}

impl Endpoint {
    /// The current time, by the clock of the server.
    pub(crate) fn now(&self) -> Time {
        self.stores.scheme().clock().now().into()
    }

    /// Returns the endpoint of a kind on `stores`.
    #[must_use]
    pub fn new(facts: &ResourceFacts, stores: &Stores) -> Self {
        let store = stores.resource(facts);
        let subresources = stores.subresources(facts);
        Self {
            facts: facts.clone(),
            representation: representation::of(facts),
            served: served::served(facts, &subresources, stores.scheme().features()),
            encodings: Arc::new(Encodings::new(facts, Arc::clone(&store))),
            create_handler: stores.create_handler(facts),
            source: stores.source(facts),
            reservations: stores.reservations(facts),
            write_check: stores.write_check(facts),
            metrics: stores.options().metrics.resource(facts),
            stores: stores.clone(),
            store,
            subresources,
            terminating: None,
            end: None,
        }
    }

    /// The same endpoint for a kind that is served until `end`, which ends its watches: a kind that has its name
    /// afterwards is another one.
    #[must_use]
    pub fn until(mut self, end: Shutdown) -> Self {
        self.end = Some(end);
        self
    }

    /// Signals that the kind is no longer served.
    pub(crate) fn end(&self) -> Option<Shutdown> {
        self.end.clone()
    }

    /// The same endpoint for a kind that is being deleted: creation is refused because of `why`, and discovery lists fewer verbs.
    #[must_use]
    pub fn terminating(mut self, why: &'static str) -> Self {
        self.terminating = Some(why);
        let listed = [Verb::Delete, Verb::DeleteCollection, Verb::Get, Verb::List, Verb::Watch];
        let verbs = std::mem::take(&mut self.served.verbs);
        (self.served.verbs, self.served.hidden_verbs) = verbs.into_iter().partition(|verb| listed.contains(verb));
        self
    }

    /// Refuses to create an object of a kind that is being deleted.
    pub(crate) fn check_not_terminating(&self, name: &str) -> ApiResult<()> {
        match self.terminating {
            None => Ok(()),
            Some(why) => Err(ApiError::forbidden(&self.facts.group_resource(), name, why)),
        }
    }

    /// The kind in the endpoint's version.
    #[must_use]
    pub fn kind(&self) -> &ResourceFacts {
        &self.facts
    }

    /// The representation of the kind's objects.
    pub(crate) fn representation(&self) -> &'static dyn Representation {
        self.representation
    }

    /// True if another program has to convert the object of `entry` to the endpoint's version.
    pub(crate) fn needs_converter(&self, entry: &Entry) -> bool {
        self.has_converter() && self.representation.needs_converter(&entry.bytes(), &self.facts)
    }

    /// True if another program converts the kind's objects, so that work on them may wait for it.
    pub(crate) fn has_converter(&self) -> bool {
        self.representation.has_converter(&self.facts)
    }

    /// The objects.
    #[must_use]
    pub fn store(&self) -> &Arc<ResourceStore> {
        &self.store
    }

    /// The state that the endpoint shares with others.
    #[must_use]
    pub fn stores(&self) -> &Stores {
        &self.stores
    }

    /// The entry of the kind in discovery, with its paths and methods.
    pub(crate) fn served(&self) -> &ServedResource {
        &self.served
    }

    /// Answers POST requests for a kind that is not stored.
    pub(crate) fn create_handler(&self) -> Option<&dyn CreateHandler> {
        self.create_handler.as_deref()
    }

    /// Computes the objects of a kind that is not stored.
    pub(crate) fn source(&self) -> Option<&dyn Source> {
        self.source.as_deref()
    }

    /// The handlers of subresources.
    pub(crate) fn subresources(&self) -> &Subresources {
        &self.subresources
    }

    pub(crate) fn write_check(&self) -> Option<&dyn WriteCheck> {
        self.write_check.as_deref()
    }

    pub(crate) fn reservations(&self) -> Option<&dyn Reservations> {
        self.reservations.as_deref()
    }

    /// The reservation to release once `object` is deleted; `None` for a kind that reserves nothing.
    pub(crate) fn release_of(&self, object: &dyn Object) -> Option<ReleaseOnDelete> {
        let pool = Arc::clone(self.reservations.as_ref()?);
        let object = object.boxed();
        Some(ReleaseOnDelete { pool, object })
    }

    pub(crate) fn metrics(&self) -> &ResourceMetrics {
        &self.metrics
    }

    pub(crate) fn encodings(&self) -> &Arc<Encodings> {
        &self.encodings
    }

    pub(crate) fn not_found(&self, name: &str) -> ApiError {
        ApiError::not_found(&self.facts.group_resource(), name)
    }

    /// Waits for a limited time until all earlier writes of all servers are visible. Costs nothing if no other server writes to
    /// the store.
    ///
    /// # Errors
    ///
    /// 500 with a time to retry after when the newest state is unknown.
    pub async fn fresh(&self, call: &Call) -> ApiResult<()> {
        let storage = self.store.storage();
        if !storage.is_shared() {
            return Ok(());
        }
        let begin = Instant::now();
        let wait = storage.fresh(self.stores.options().freshness_wait);
        let fresh = call.ctx.timeline.wait(Stage::Freshness, wait).await;
        self.metrics().fresh_read(begin.elapsed(), fresh.is_ok());
        fresh.map_err(|why| stale(&why, &self.facts))
    }

    /// Waits for a limited time until `version` is visible.
    ///
    /// # Errors
    ///
    /// 504 when it did not become visible in time.
    pub(crate) async fn wait_for(&self, call: &Call, version: u64) -> ApiResult<()> {
        let storage = self.store.storage();
        if storage.revision() >= Revision(version) {
            return Ok(());
        }
        if storage.is_shared() {
            // The feed of changes sends its progress only on request.
            self.fresh(call).await?;
        }
        let timeout = self.stores.options().freshness_wait;
        let wait = storage.wait_for(Revision(version), timeout);
        if call.ctx.timeline.wait(Stage::Freshness, wait).await {
            return Ok(());
        }
        Err(ApiError::too_large_resource_version(version, storage.revision().0))
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint")
            .field("api_version", &self.facts.api_version)
            .field("kind", &self.facts.kind)
            .finish_non_exhaustive()
    }
}
