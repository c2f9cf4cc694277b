//! The decision if a webhook is called about a request.

use std::time::Instant;

use planesmith_access::admission::Attributes;
use planesmith_expressions::policy::Matching;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_server::metrics::WebhookType;
use serde_json::Value;

use super::Webhook;
use crate::evaluation::{Evaluation, EvaluationInputs};
use crate::request::Request;
use crate::rules;
use crate::selectors::ObjectLabels;
use crate::sources::Sources;
use crate::target::Target;

impl Webhook {
    /// Returns the version in which rules and selectors of the webhook select a request.
    ///
    /// # Errors
    ///
    /// Those of the selectors.
    pub(super) fn selects(
        &self,
        request: &Request<'_>,
        labels: ObjectLabels<'_>,
        sources: &Sources,
    ) -> ApiResult<Option<Target>> {
        let equivalents = self.matches_equivalents.then_some(&*sources.equivalents);
        let Some(target) = rules::find_target(self.rules.iter(), request, equivalents) else {
            return Ok(None);
        };
        let is_included = self.selectors.include(request, labels, &*sources.objects)?;
        Ok(is_included.then_some(target))
    }

    /// True if the conditions of the webhook select a request about the documents `new` and `old` of `target`.
    ///
    /// # Errors
    ///
    /// 403 for conditions that cannot be evaluated, unless failures are ignored.
    pub(super) async fn conditions_select(
        &self,
        request: &Request<'_>,
        target: &Target,
        (new, old): (&Value, &Value),
        sources: &Sources,
        webhook_type: WebhookType,
    ) -> ApiResult<bool> {
        if self.conditions.is_empty() {
            return Ok(true);
        }
        let operation = request.attributes.operation;
        let metrics = sources.metrics.webhooks();
        let begin = Instant::now();
        let params = &Value::Null;
        let matching = Evaluation::new(request)
            .run(
                (request, target),
                EvaluationInputs { new, old, params },
                sources,
                |inputs| self.conditions.evaluate(inputs),
            )
            .await;
        metrics.conditions_evaluated(&self.name, webhook_type, operation, begin.elapsed());
        match matching {
            Matching::All => Ok(true),
            Matching::Except(_) => {
                metrics.excluded(&self.name, webhook_type, operation);
                Ok(false)
            }
            Matching::Failed { message, errors } => {
                metrics.conditions_failed(&self.name, webhook_type, operation, errors.max(1));
                match self.ignores_failures {
                    true => Ok(false),
                    false => Err(forbidden(request.attributes, &message)),
                }
            }
        }
    }
}

fn forbidden(attributes: &Attributes<'_>, why: &str) -> ApiError {
    tracing::warn!(%why, "a request is refused because conditions of a webhook cannot be evaluated");
    ApiError::forbidden(&attributes.group_resource(), attributes.name, why)
}
