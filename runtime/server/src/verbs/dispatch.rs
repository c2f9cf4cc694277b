//! The verb that answers a request.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use http::Request;
use planesmith_access::audit::Annotations;
use planesmith_machinery::object::Resource;
use planesmith_machinery::resource::{ResourceFacts, SubresourceKind};
use planesmith_machinery::status::{ApiError, ApiResult};

use crate::discovery::ServedResource;
use crate::endpoint::{Call, Endpoint};
use crate::metrics::StoredCounts;
use crate::request::{Context, Verb};
use crate::response;
use crate::routes::{ResourceHandler, Routes};
use crate::stores::{ResourceStore, Stores};

impl Routes {
    /// Serves the kind `R` from `stores`.
    pub fn serve<R: Resource>(&mut self, stores: &Stores) {
        self.serve_kind(R::RESOURCE, stores);
    }

    /// Serves a kind by its facts. A version that is not served or is switched off is ignored.
    pub fn serve_kind(&mut self, facts: &ResourceFacts, stores: &Stores) {
        if self.admits(facts) {
            self.add(Arc::new(Endpoint::new(facts, stores)));
        }
    }
}

impl ResourceHandler for Endpoint {
    fn facts(&self) -> &ServedResource {
        self.served()
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
        self.kind().behavior.is_stored().then_some(self.store())
    }

    fn stored(&self) -> Option<StoredCounts> {
        let stats = self.objects()?.collection().stats();
        let hub = self.kind().hub();
        Some(StoredCounts {
            group: hub.group.clone(),
            resource: hub.plural.clone(),
            objects: stats.entries,
            bytes: stats.bytes,
            changes: stats.published,
            retained_changes: stats.events,
            revision: stats.newest.0,
        })
    }
}

impl Endpoint {
    async fn answer(self: &Arc<Self>, call: &Call, body: Body) -> ApiResult<Response> {
        if let Some(warning) = &self.kind().deprecated {
            self.note_deprecated(call, warning);
        }
        let info = &call.ctx.info;
        if !info.subresource().is_empty() {
            return Box::pin(self.answer_below(call, body)).await;
        }
        if self.kind().behavior.read_only {
            let source = self.source().ok_or_else(ApiError::method_not_allowed)?;
            return match info.verb() {
                Verb::Get => self.get_computed(call, source).await,
                Verb::List => self.list_computed(call, source).await,
                Verb::Watch => Err(ApiError::verb_not_supported(&self.kind().group_resource(), "watch")),
                _ => Err(ApiError::method_not_allowed()),
            };
        }
        match info.verb() {
            Verb::Get => self.get(call).await,
            Verb::List => self.list(call).await,
            Verb::Watch => self.watch(call).await,
            Verb::Create if self.kind().behavior.create_only => {
                let handler = self.create_handler().ok_or_else(ApiError::method_not_allowed)?;
                handler.create(self, call, body).await
            }
            Verb::Create => Box::pin(self.create(call, body)).await,
            Verb::Update => Box::pin(self.update(call, body)).await,
            Verb::Patch => Box::pin(self.patch(call, body)).await,
            Verb::Delete => Box::pin(self.delete(call, body)).await,
            Verb::DeleteCollection => Box::pin(self.delete_collection(call, body)).await,
            _ => Err(ApiError::method_not_allowed()),
        }
    }

    /// Records a request for a deprecated version of a resource; `warning` is the warning that clients receive.
    fn note_deprecated(&self, call: &Call, warning: &str) {
        call.ctx.warnings.add(warning);
        let removed = removed_release(warning);
        let requests = self.stores().options().metrics.requests();
        requests.note_deprecated(&call.ctx.info, removed);
        annotate_deprecated(&call.ctx.annotations, removed);
    }

    /// Answers a request for a subresource.
    async fn answer_below(self: &Arc<Self>, call: &Call, body: Body) -> ApiResult<Response> {
        let info = &call.ctx.info;
        let name = info.subresource();
        if let Some(handler) = self.subresources().get(name) {
            return handler.serve(Arc::clone(self), call, body).await;
        }
        let declared = self.kind().subresource(name).map(|subresource| &subresource.kind);
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

/// Annotates the audit event of a request for a deprecated version; `removed` is the release without it, empty if unknown.
fn annotate_deprecated(annotations: &Annotations, removed: &str) {
    annotations.add("k8s.io/deprecated", "true");
    if !removed.is_empty() {
        annotations.add("k8s.io/removed-release", removed);
    }
}

/// Returns the release without the deprecated version, as its warning names it; empty if it names none.
fn removed_release(warning: &str) -> &str {
    warning.split_once("unavailable in v").map_or("", |(_, rest)| {
        let end = rest.find(|letter: char| letter != '.' && !letter.is_ascii_digit());
        &rest[..end.unwrap_or(rest.len())]
    })
}

#[cfg(test)]
mod tests {
    use planesmith_access::audit::Level;

    use super::*;

    #[test]
    fn audit_events_name_the_release_without_a_deprecated_version() {
        let annotated = |warning: &str| {
            let annotations = Annotations::recorded(Level::Metadata);
            annotate_deprecated(&annotations, removed_release(warning));
            let collected = annotations.collected();
            let pairs = collected.iter().map(|(key, value)| format!("{key}={value}"));
            pairs.collect::<Vec<_>>()
        };
        assert_eq!(
            annotated("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"),
            ["k8s.io/deprecated=true"]
        );
        assert_eq!(
            annotated(
                "policy/v1beta1 PodDisruptionBudget is deprecated in v1.21+, unavailable in v1.25+; use policy/v1"
            ),
            ["k8s.io/deprecated=true", "k8s.io/removed-release=1.25"]
        );
    }
}
