//! The decision if a webhook is asked about a request.

use std::time::Instant;

use planesmith_access::admission::Attributes;
use planesmith_expressions::Value as Cel;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_server::metrics::WebhookType;
use serde_json::Value;

use super::Webhook;
use crate::conditions::Match;
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
    pub(super) fn conditions_select(
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
        let attributes = request.attributes;
        let operation = attributes.operation;
        let document = Value::Object(request.document(target));
        let variables = [
            ("object", Ok(Cel::of_document(new))),
            ("oldObject", Ok(Cel::of_document(old))),
            ("request", Ok(Cel::of_document(&document))),
            ("namespaceObject", Ok(Cel::Null)),
        ];
        let metrics = sources.metrics.webhooks();
        let begin = Instant::now();
        let evaluated = self.conditions.evaluate(&variables);
        metrics.conditions_evaluated(&self.name, webhook_type, operation, begin.elapsed());
        match evaluated {
            Match::Matches => Ok(true),
            Match::Excluded(_) => {
                metrics.excluded(&self.name, webhook_type, operation);
                Ok(false)
            }
            Match::Failed { why, count } => {
                metrics.conditions_failed(&self.name, webhook_type, operation, count);
                match self.ignores_failures {
                    true => Ok(false),
                    false => Err(forbidden(attributes, &why)),
                }
            }
        }
    }
}

fn forbidden(attributes: &Attributes<'_>, why: &str) -> ApiError {
    tracing::warn!(%why, "a request is refused because conditions of a webhook cannot be evaluated");
    ApiError::forbidden(&attributes.group_resource(), attributes.name, why)
}
