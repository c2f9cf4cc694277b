//! Fifth step: fields that the client cannot set are restored, and the object is valid.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::object::Object;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::validation;
use planesmith_patch::managers;

use super::prepared::{prepare_create, prepare_update};
use super::{Mutated, Part, Write};
use crate::offload::Cost;
use crate::request::Stage;

/// A valid object, in the version that the write works on.
pub(crate) struct Validated {
    pub(super) object: Box<dyn Object>,
    /// Size of the object in JSON, in bytes; an estimate.
    pub(super) size: usize,
}

impl Mutated {
    /// Prepares and validates a new object.
    ///
    /// # Errors
    ///
    /// 422 when it is not valid; 429 when the validation is expensive and too much work waits.
    pub(super) async fn validate_new(self, write: &Write<'_>) -> ApiResult<Validated> {
        let mut object = self.object;
        write.pass_on(object.resource().extensions.hooks.preparation_warnings(&*object));
        let (sent, size) = (write.endpoint.kind(), write.size);
        let features = write.features();
        let check = || {
            prepare_create(&mut *object, &write.strategy_context());
            validation::check_create_as_sent(&*object, sent, features)
        };
        let errors = write.check_in_turn(size, check).await?;
        write.refuse_invalid(&*object, &errors)?;
        write.warn_about(&*object, None);
        Ok(Validated { object, size })
    }

    /// Prepares and validates a change of `part` of `old`; the objects have about `size` bytes.
    ///
    /// # Errors
    ///
    /// As for [`Self::validate_new`].
    pub(super) async fn validate_change(
        self,
        write: &Write<'_>,
        size: usize,
        part: Part<'_>,
        old: &dyn Object,
    ) -> ApiResult<Validated> {
        let mut new = self.object;
        let features = write.features();
        let check = || {
            prepare_update(part, &mut *new, &write.strategy_context(), old);
            match part {
                Part::Object => validation::check_update_as_sent(&*new, old, write.endpoint.kind(), features),
                Part::Finalizers => validation::check_part_update(&*new, old, features, |errors| {
                    new.resource().extensions.hooks.validate_replacement(&*new, old, errors);
                }),
                Part::Status => validation::check_status_update(&*new, old, features),
                Part::Own(part) => {
                    validation::check_part_update(&*new, old, features, |errors| part.check(&*new, old, errors))
                }
            }
        };
        let mut errors = write.check_in_turn(size, check).await?;
        write.pass_on(errors.take_tolerated());
        write.refuse_invalid(&*new, &errors)?;
        match part {
            Part::Status => write.pass_on(new.resource().strategy.warnings_on_status_update(&*new, old)),
            Part::Object | Part::Finalizers => write.warn_about(&*new, Some(old)),
            Part::Own(_) => {}
        }
        // A change of nothing else leaves the times of managed fields as they were.
        managers::keep_times(old, &mut *new);
        Ok(Validated { object: new, size })
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

    /// Refuses an object with validation errors.
    fn refuse_invalid(&self, object: &dyn Object, errors: &FieldErrors) -> ApiResult<()> {
        if errors.is_empty() {
            return Ok(());
        }
        // A kind that moved to another group is still named after the group in which it is stored.
        let kind = self.endpoint.kind().hub().group_kind();
        let errors = self.sent_empty.shown_in(errors);
        Err(ApiError::invalid(&kind, &object.meta().name, &errors))
    }

    /// Adds the kind's warnings about an accepted object.
    fn warn_about(&self, object: &dyn Object, old: Option<&dyn Object>) {
        let strategy = object.resource().strategy;
        self.pass_on(match old {
            None => strategy.warnings_on_create(object),
            Some(old) => strategy.warnings_on_update(object, old),
        });
    }

    /// Passes warnings on to the client.
    fn pass_on(&self, warnings: Vec<String>) {
        for warning in warnings {
            self.call.ctx.warnings.add(warning);
        }
    }
}
