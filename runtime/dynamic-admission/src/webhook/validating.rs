//! The plugin that calls validating webhooks, all at the same time.

use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use planesmith_access::admission::{AdmissionFuture, Attributes, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::admissionregistration::v1::ValidatingWebhookConfiguration;
use planesmith_control_plane::admission::Registration;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_server::metrics::{WebhookOutcome, WebhookType};

use super::Webhook;
use super::call::{Failure, call, remaining, timed_out};
use super::client::Clients;
use super::configurations::Configurations;
use crate::documents::Documents;
use crate::request::Request;
use crate::selectors::ObjectLabels;
use crate::sources::{Sources, store_of};
use crate::target::Target;

/// Asks validating webhooks.
pub(crate) const VALIDATING_WEBHOOKS: Registration = Registration::on("ValidatingAdmissionWebhook", |initializer| {
    let Some(store) = store_of::<ValidatingWebhookConfiguration>(initializer) else {
        return Ok(None);
    };
    Ok(Some(Arc::new(ValidatingWebhooks {
        configurations: Configurations::new::<ValidatingWebhookConfiguration>(store),
        clients: Clients::new(initializer)?,
        sources: Sources::new(initializer),
    })))
});

struct ValidatingWebhooks {
    configurations: Configurations,
    clients: Clients,
    sources: Sources,
}

/// A webhook that is called about a request.
struct Invocation {
    webhook: Arc<Webhook>,
    /// Index of the version in which it sees the request.
    version: usize,
}

impl Plugin for ValidatingWebhooks {
    fn name(&self) -> &'static str {
        VALIDATING_WEBHOOKS.name
    }

    fn handles(&self, _: Operation, phase: Phase) -> bool {
        phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        let webhooks = self.configurations.current();
        if webhooks.is_empty() || Request::is_exempt(attributes) {
            return decided(Ok(()));
        }
        let request = Request::new(attributes, objects);
        Box::pin(async move { self.call_all(&webhooks, &request, objects).await })
    }
}

impl ValidatingWebhooks {
    async fn call_all(&self, webhooks: &[Arc<Webhook>], request: &Request<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        let mut versions: Vec<(Target, Documents)> = Vec::new();
        let mut invocations = Vec::new();
        for webhook in webhooks {
            let labels = ObjectLabels::from_request(request, objects);
            let Some(target) = webhook.selects(request, labels, &self.sources)? else {
                continue;
            };
            let known = versions.iter().position(|(version, _)| *version == target);
            let version = match known {
                Some(version) => version,
                None => {
                    let documents = Documents::convert(request, objects, &target).await?;
                    versions.push((target, documents));
                    versions.len() - 1
                }
            };
            let (target, documents) = &versions[version];
            let documents = (&documents.new, &documents.old);
            if webhook
                .conditions_select(request, target, documents, &self.sources, WebhookType::Validating)
                .await?
            {
                let webhook = Arc::clone(webhook);
                invocations.push(Invocation { webhook, version });
            }
        }
        if invocations.is_empty() {
            return Ok(());
        }
        if remaining(request.attributes).is_some_and(|left| left.is_zero()) {
            return Err(timed_out());
        }
        let calls = invocations.iter().enumerate().map(|(index, invocation)| {
            let (target, documents) = &versions[invocation.version];
            self.call(index, &invocation.webhook, request, target, documents)
        });
        let mut calls: FuturesUnordered<_> = calls.collect();
        let mut first = Ok(());
        while let Some(answer) = calls.next().await {
            first = first.and(answer);
        }
        first
    }

    async fn call(
        &self,
        index: usize,
        webhook: &Webhook,
        request: &Request<'_>,
        target: &Target,
        documents: &Documents,
    ) -> ApiResult<()> {
        let begin = Instant::now();
        let documents = (&documents.new, &documents.old);
        let called = call(
            webhook,
            &self.clients,
            request,
            target,
            documents,
            WebhookType::Validating,
        )
        .await;
        let metrics = self.sources.metrics.webhooks();
        let outcome = match &called {
            Ok(_) => WebhookOutcome::Admitted,
            Err(Failure::Call { code, .. }) => WebhookOutcome::Unanswered {
                code: *code,
                ignored: webhook.ignores_failures,
            },
            Err(Failure::Rejection(error)) => WebhookOutcome::Rejected { code: error.code() },
            Err(Failure::Server(_)) => WebhookOutcome::ServerFailed,
        };
        let operation = request.attributes.operation;
        metrics.called(
            &webhook.name,
            WebhookType::Validating,
            operation,
            outcome,
            begin.elapsed(),
        );
        match called {
            Ok(_) => Ok(()),
            Err(Failure::Call { why, .. }) if webhook.ignores_failures => {
                tracing::warn!(webhook = webhook.name, %why, "a validating webhook failed; the request goes on without it");
                metrics.failed_open(&webhook.name, WebhookType::Validating);
                let key = format!("failed-open.validating.webhook.admission.k8s.io/round_0_index_{index}");
                request.attributes.annotations.add(key, webhook.name.as_str());
                Ok(())
            }
            Err(Failure::Call { why, .. }) => {
                tracing::warn!(webhook = webhook.name, %why, "a validating webhook failed; the request is refused");
                Err(ApiError::internal(why))
            }
            Err(Failure::Rejection(error) | Failure::Server(error)) => Err(error),
        }
    }
}
