//! Sixth step: the validating admission plugins have accepted the object.

use planesmith_access::admission::{Objects, Operation, Phase};
use planesmith_machinery::object::Object;
use planesmith_machinery::status::ApiResult;

use super::Write;
use super::validated::Validated;
use crate::request::Stage;

/// An object that may be stored, in the version that the write works on.
pub(crate) struct Admitted {
    pub(super) object: Box<dyn Object>,
    /// Size of the object in JSON, in bytes; an estimate.
    pub(super) size: usize,
}

impl Validated {
    /// Runs the validating plugins. `old` is the object that is changed; `None` when one is created.
    ///
    /// # Errors
    ///
    /// The error of the first plugin that refuses.
    pub(crate) async fn admit(mut self, write: &Write<'_>, old: Option<&dyn Object>) -> ApiResult<Admitted> {
        write.run_validating_plugins(&mut *self.object, old).await?;
        Ok(Admitted {
            object: self.object,
            size: self.size,
        })
    }
}

impl Write<'_> {
    /// Runs the validating plugins on the new object.
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
