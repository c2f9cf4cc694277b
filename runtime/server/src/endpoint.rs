//! One kind in one version, as clients access it.
//!
//! Nothing here is instantiated per kind: an endpoint is data, and all endpoints run the same code over the tables of
//! their kinds.

mod converted;
mod forms;
mod object_part;
mod offloaded;
mod render;
mod render_list;
mod responder;
mod served;
mod source;
mod subresource;

use std::sync::{Arc, OnceLock};

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use http::Request;
use http::request::Parts;
use planesmith_machinery::object::{Object, Resource};
use planesmith_machinery::resource::{ResourceFacts, SubresourceKind};
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_store::Revision;

use crate::metrics::ResourceMetrics;
use crate::offload::Turns;
use crate::request::{Context, Query, Stage, Verb};
use crate::reservations::{Gone, Reservations};
use crate::response;
use crate::routes::{ResourceHandler, Routes, ServedResource, StoredCounts};
use crate::shutdown::Shutdown;
use crate::stores::{ResourceStore, Stores};
pub use crate::verbs::{Posted, Submission};

pub(crate) use forms::{Caching, Form, Forms, metadata_range};
pub use object_part::ObjectPart;
pub(crate) use object_part::PartRules;
pub(crate) use render::{PARTIAL_KIND, Subject, envelope, no_list, partial_api_version};
pub use responder::Responder;
pub use source::Source;
pub use subresource::{Finalize, Subresource, Subresources};

/// Answers the requests for one kind in one version.
pub struct Endpoint {
    facts: &'static ResourceFacts,
    served: ServedResource,
    stores: Stores,
    store: Arc<ResourceStore>,
    forms: Arc<Forms>,
    subresources: Subresources,
    responder: Option<Arc<dyn Responder>>,
    source: Option<Arc<dyn Source>>,
    reservations: Option<Arc<dyn Reservations>>,
    metrics: ResourceMetrics,
    /// True if the definition of the kind is being deleted.
    leaves: bool,
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

impl Routes {
    /// Serves the kind `R` from `stores`.
    pub fn serve<R: Resource>(&mut self, stores: &Stores) {
        self.serve_kind(R::RESOURCE, stores);
    }

    /// Serves a kind by its facts. A version that is not served or is switched off is ignored.
    pub fn serve_kind(&mut self, facts: &'static ResourceFacts, stores: &Stores) {
        if self.admits(facts) {
            self.add(Arc::new(Endpoint::new(facts, stores)));
        }
    }
}

impl Endpoint {
    /// Returns the endpoint of a kind on `stores`.
    #[must_use]
    pub fn new(facts: &'static ResourceFacts, stores: &Stores) -> Self {
        let store = stores.resource(facts);
        let subresources = stores.subresources(facts);
        Self {
            facts,
            served: served::served(facts, &subresources),
            forms: Arc::new(Forms::new(facts, Arc::clone(&store))),
            responder: stores.responder(facts),
            source: stores.source(facts),
            reservations: stores.reservations(facts),
            metrics: stores.options().metrics.resource(facts),
            stores: stores.clone(),
            store,
            subresources,
            leaves: false,
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

    /// The same endpoint for a kind that is being deleted: creation is refused, and discovery lists fewer verbs.
    #[must_use]
    pub fn leaving(mut self) -> Self {
        self.leaves = true;
        let told = [Verb::Delete, Verb::DeleteCollection, Verb::Get, Verb::List, Verb::Watch];
        let verbs = std::mem::take(&mut self.served.verbs);
        (self.served.verbs, self.served.untold_verbs) = verbs.into_iter().partition(|verb| told.contains(verb));
        self
    }

    /// Refuses to create an object of a kind that is being deleted.
    pub(crate) fn check_that_it_stays(&self, name: &str) -> ApiResult<()> {
        if !self.leaves {
            return Ok(());
        }
        let why = "create not allowed while custom resource definition is terminating";
        Err(ApiError::forbidden(&self.facts.group_resource(), name, why))
    }

    /// The kind in the endpoint's version.
    #[must_use]
    pub fn kind(&self) -> &'static ResourceFacts {
        self.facts
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

    pub(crate) fn responder(&self) -> Option<&Arc<dyn Responder>> {
        self.responder.as_ref()
    }

    pub(crate) fn reservations(&self) -> Option<&dyn Reservations> {
        self.reservations.as_deref()
    }

    /// The reservation to release once `object` is deleted; `None` for a kind that reserves nothing.
    pub(crate) fn gone(&self, object: &dyn Object) -> Option<Gone> {
        let pool = Arc::clone(self.reservations.as_ref()?);
        let object = object.boxed();
        Some(Gone { pool, object })
    }

    pub(crate) fn metrics(&self) -> &ResourceMetrics {
        &self.metrics
    }

    pub(crate) fn forms(&self) -> &Arc<Forms> {
        &self.forms
    }

    pub(crate) fn not_found(&self, name: &str) -> ApiError {
        ApiError::not_found(&self.facts.group_resource(), name)
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
        let patience = self.stores.options().freshness_wait;
        let wait = storage.wait_for(Revision(version), patience);
        if call.ctx.timeline.wait(Stage::Freshness, wait).await {
            return Ok(());
        }
        Err(ApiError::too_large_resource_version(version, storage.revision().0))
    }

    async fn answer(self: &Arc<Self>, call: &Call, body: Body) -> ApiResult<Response> {
        if let Some(warning) = self.facts.deprecated {
            call.ctx.warnings.add(warning);
            let requests = self.stores.options().metrics.requests();
            requests.note_deprecated(&call.ctx.info, warning);
        }
        let info = &call.ctx.info;
        if !info.subresource().is_empty() {
            return Box::pin(self.answer_below(call, body)).await;
        }
        if self.facts.behavior.read_only {
            let source = self.source.as_deref().ok_or_else(ApiError::method_not_allowed)?;
            return match info.verb() {
                Verb::Get => self.get_made(call, source).await,
                Verb::List => self.list_made(call, source).await,
                Verb::Watch => Err(ApiError::verb_not_supported(&self.facts.group_resource(), "watch")),
                _ => Err(ApiError::method_not_allowed()),
            };
        }
        match info.verb() {
            Verb::Get => self.get(call).await,
            Verb::List => self.list(call).await,
            Verb::Watch => self.watch(call).await,
            Verb::Create if self.facts.behavior.create_only => Box::pin(self.ask(call, body)).await,
            Verb::Create => Box::pin(self.create(call, body)).await,
            Verb::Update => Box::pin(self.update(call, body)).await,
            Verb::Patch => Box::pin(self.patch(call, body)).await,
            Verb::Delete => Box::pin(self.delete(call, body)).await,
            Verb::DeleteCollection => Box::pin(self.delete_collection(call, body)).await,
            _ => Err(ApiError::method_not_allowed()),
        }
    }

    /// Answers a request for a subresource.
    async fn answer_below(self: &Arc<Self>, call: &Call, body: Body) -> ApiResult<Response> {
        let info = &call.ctx.info;
        let name = info.subresource();
        if let Some(handler) = self.subresources.get(name) {
            return handler.serve(Arc::clone(self), call, body).await;
        }
        let declared = self.facts.subresource(name).map(|subresource| &subresource.kind);
        match (declared, info.verb()) {
            (Some(SubresourceKind::Status), Verb::Get) => self.get(call).await,
            (Some(SubresourceKind::Status), Verb::Update) => self.update_status(call, body).await,
            (Some(SubresourceKind::Status), Verb::Patch) => self.patch_status(call, body).await,
            (Some(SubresourceKind::Scale(scale)), Verb::Get) => self.get_scale(call, scale).await,
            (Some(SubresourceKind::Scale(scale)), Verb::Update) => self.update_scale(call, body, scale).await,
            (Some(SubresourceKind::Scale(scale)), Verb::Patch) => self.patch_scale(call, body, scale).await,
            (Some(_), _) => Err(ApiError::method_not_allowed()),
            (None, _) => Err(ApiError::path_not_found()),
        }
    }
}

impl ResourceHandler for Endpoint {
    fn facts(&self) -> &ServedResource {
        &self.served
    }

    fn serve(self: Arc<Self>, ctx: Context, request: Request<Body>) -> BoxFuture<'static, Response> {
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let call = Call::new(ctx, parts);
            match self.answer(&call, body).await {
                Ok(response) => response,
                Err(error) => response::failure(&call.parts, &error),
            }
        })
    }

    fn objects(&self) -> Option<&Arc<ResourceStore>> {
        self.facts.behavior.is_stored().then_some(&self.store)
    }

    fn stored(&self) -> Option<StoredCounts> {
        let stats = self.objects()?.collection().stats();
        let hub = self.kind().hub();
        Some(StoredCounts {
            group: hub.group,
            resource: hub.plural,
            objects: stats.entries,
            bytes: stats.bytes,
            changes: stats.published,
            kept_changes: stats.events,
            revision: stats.newest.0,
        })
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
