//! Eighth step: fields that the client cannot set are restored, and the object is valid.

use planesmith_machinery::field_error::{FieldErrors, SentEmpty};
use planesmith_machinery::object::Object;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::{heap_size, validation};
use planesmith_patch::managers;
use serde_json::Value;

use super::candidate::{Candidate, Existing, New};
use super::prepared::{prepare_create, prepare_update};
use super::reserved::Reserved;
use super::{Part, Write};
use crate::offload::Cost;
use crate::request::Stage;

/// A valid object, in the version that the write works on.
pub(super) struct Validated<P>(Candidate<P>);

impl Reserved<New> {
    /// Prepares and validates a new object.
    ///
    /// # Errors
    ///
    /// 422 when it is not valid; 429 when the validation is expensive and too much work waits.
    pub(super) async fn validate(self, write: &Write<'_>) -> ApiResult<Validated<New>> {
        let mut candidate = self.into_candidate();
        let sent_empty = std::mem::take(&mut candidate.sent_empty);
        let Candidate { object, size, .. } = &mut candidate;
        write.pass_on(object.resource().extensions.hooks.preparation_warnings(&**object));
        let (sent, context) = (write.endpoint.kind(), write.strategy_context(&sent_empty));
        let check = || {
            prepare_create(&mut **object, &context);
            validation::check_create_as_sent(&**object, sent, &context)
        };
        let errors = write.check_in_turn(*size, check).await?;
        let errors = write.with_check_errors(errors, &**object, None);
        write.refuse_invalid(&**object, &errors, &sent_empty)?;
        write.pass_on(object.resource().strategy.warnings_on_create(&**object));
        Ok(Validated(candidate))
    }
}

impl<'s> Reserved<Existing<'s>> {
    /// Prepares and validates a changed object.
    ///
    /// # Errors
    ///
    /// As for a new object.
    pub(super) async fn validate(self, write: &Write<'_>) -> ApiResult<Validated<Existing<'s>>> {
        let mut candidate = self.into_candidate();
        let (sent_empty, has_pruned_fields) = (std::mem::take(&mut candidate.sent_empty), candidate.has_pruned_fields);
        let new = &mut *candidate.object;
        let Existing { old, part, size, .. } = candidate.purpose;
        let (sent, context) = (write.endpoint.kind(), write.strategy_context(&sent_empty));
        let check = || {
            prepare_update(part, new, &context, old, has_pruned_fields);
            let new = &*new;
            match part {
                Part::Object => validation::check_update_as_sent(new, old, sent, &context),
                Part::Finalizers => validation::check_part_update(new, old, &context, |errors| {
                    new.resource().extensions.hooks.validate_replacement(new, old, errors);
                }),
                Part::Status => validation::check_status_update(new, old, &context),
                Part::Own(part) => {
                    validation::check_part_update(new, old, &context, |errors| part.check(new, old, errors))
                }
            }
        };
        let errors = write.check_in_turn(size, check).await?;
        let mut errors = write.with_check_errors(errors, new, Some(old));
        write.pass_on(errors.take_tolerated());
        write.refuse_invalid(new, &errors, &sent_empty)?;
        let strategy = new.resource().strategy;
        match part {
            Part::Status => write.pass_on(strategy.warnings_on_status_update(new, old)),
            Part::Object | Part::Finalizers => write.pass_on(strategy.warnings_on_update(new, old)),
            Part::Own(_) => {}
        }
        // A change of nothing else leaves the times of managed fields as they were.
        managers::keep_times(old, new);
        Ok(Validated(candidate))
    }
}

impl<P> Validated<P> {
    pub(super) fn into_candidate(self) -> Candidate<P> {
        self.0
    }
}

impl Write<'_> {
    /// Runs the `check` of an object of about `size` bytes.
    ///
    /// # Errors
    ///
    /// 429 when the validation is expensive and too much work waits.
    async fn check_in_turn<T>(&self, size: usize, check: impl FnOnce() -> T) -> ApiResult<T> {
        let check = || self.call.ctx.timeline.time(Stage::Validation, check);
        let kind = self.endpoint.kind();
        let by_expressions = self.endpoint.representation().check_cost(kind, size);
        let cost = Cost::of_json(size) + Cost::of_nanos(by_expressions);
        self.endpoint.run(self.call, size, cost, check).await
    }

    /// Returns `errors` after those of rules about other objects.
    fn with_check_errors(&self, errors: FieldErrors, new: &dyn Object, old: Option<&dyn Object>) -> FieldErrors {
        let Some(check) = self.endpoint.write_check() else {
            return errors;
        };
        let mut all = check.field_errors(new, old);
        all.append(errors);
        all
    }

    /// Refuses an object with validation errors. They show the empty values of its document.
    fn refuse_invalid(&self, object: &dyn Object, errors: &FieldErrors, sent_empty: &SentEmpty) -> ApiResult<()> {
        if errors.is_empty() {
            return Ok(());
        }
        // A kind that moved to another group is still named after the group in which it is stored.
        let kind = self.endpoint.kind().hub().group_kind();
        let bodies = self.endpoint.stores().large_bodies();
        let count = |document: &Value| bodies.count(self.size, || heap_size::of_tree(document));
        let errors = sent_empty.rendered(errors, count)?;
        Err(ApiError::invalid(&kind, &object.meta().name, &errors))
    }

    /// Passes warnings on to the client.
    fn pass_on(&self, warnings: Vec<String>) {
        for warning in warnings {
            self.call.ctx.warnings.add(warning);
        }
    }
}
