//! Ninth step: the validating admission plugins have accepted the object.

use planesmith_access::admission::{Objects, Operation, Phase};
use planesmith_machinery::object::Object;
use planesmith_machinery::status::ApiResult;

use super::Write;
use super::candidate::{Candidate, Purpose};
use super::validated::Validated;
use crate::request::Stage;

/// An object that may be stored, in the version that the write works on.
pub(super) struct Admitted<P>(Candidate<P>);

impl<P: Purpose> Validated<P> {
    /// Runs the validating plugins.
    ///
    /// # Errors
    ///
    /// The error of the first plugin that refuses.
    pub(super) async fn admit(self, write: &Write<'_>) -> ApiResult<Admitted<P>> {
        let mut candidate = self.into_candidate();
        let Candidate { object, purpose, .. } = &mut candidate;
        write.run_validating_plugins(&mut **object, purpose.old()).await?;
        Ok(Admitted(candidate))
    }
}

impl<P> Admitted<P> {
    /// The object.
    pub(super) fn object(&self) -> &dyn Object {
        &*self.0.object
    }

    /// The purpose of the write.
    pub(super) fn purpose(&self) -> &P {
        &self.0.purpose
    }

    pub(super) fn into_candidate(self) -> Candidate<P> {
        self.0
    }
}

impl Write<'_> {
    /// Runs the validating plugins on the new object. An object that is answered and not stored has no later step, so this
    /// returns nothing for it.
    ///
    /// # Errors
    ///
    /// The error of the first plugin that refuses.
    pub(crate) async fn run_validating_plugins(&self, new: &mut dyn Object, old: Option<&dyn Object>) -> ApiResult<()> {
        let operation = old.map_or(Operation::Create, |_| Operation::Update);
        let chain = self.endpoint.stores().admission();
        if !chain.handles(operation, Phase::Validating) {
            return Ok(());
        }
        let name = old.unwrap_or(new).meta().name.clone();
        let objects = Objects { new: Some(new), old };
        let warn = |text: String| self.call.ctx.warnings.add(text);
        let attributes = self.attributes(operation, &name, &warn);
        let validate = chain.validate(&attributes, &objects);
        self.call.ctx.timeline.wait(Stage::Admission, validate).await
    }
}
