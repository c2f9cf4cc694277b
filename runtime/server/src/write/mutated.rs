//! Fourth step: the mutating admission plugins have changed the object.

use planesmith_access::admission::{Objects, Operation, Phase};
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::NameRule;
use planesmith_machinery::status::ApiResult;

use super::Write;
use super::tracked::Tracked;
use crate::generated_name::generated_name;
use crate::request::Stage;

/// An object after the mutating plugins, in the version that the write works on.
#[derive(Clone)]
pub(crate) struct Mutated {
    pub(super) object: Box<dyn Object>,
}

impl Tracked {
    /// Runs the mutating plugins. `old` is the object that is changed; `None` when one is created.
    ///
    /// # Errors
    ///
    /// The error of the first plugin that refuses.
    pub(crate) async fn mutate(mut self, write: &Write<'_>, old: Option<&dyn Object>) -> ApiResult<Mutated> {
        let operation = old.map_or(Operation::Create, |_| Operation::Update);
        let chain = write.endpoint.stores().admission();
        if chain.handles(operation, Phase::Mutating) {
            // The name is copied: plugins may change the object that it belongs to.
            let name = old.unwrap_or(&*self.object).meta().name.clone();
            let mut objects = Objects {
                new: Some(&mut *self.object),
                old,
            };
            let warn = |text: String| write.call.ctx.warnings.add(text);
            let attributes = write.attributes(operation, &name, &warn);
            let mutate = chain.mutate(&attributes, &mut objects);
            write.call.ctx.timeline.wait(Stage::Admission, mutate).await?;
        }
        write.drop_repeated_owners(&mut *self.object, true);
        Ok(Mutated { object: self.object })
    }
}

impl Mutated {
    /// The same new object with a UID, a creation time and, if its client leaves that to the server, a name.
    ///
    /// # Errors
    ///
    /// 400 when a plugin has moved the object to another namespace.
    pub(super) fn identify(mut self, write: &Write<'_>) -> ApiResult<Self> {
        let uid = write.endpoint.stores().options().uids.next();
        let name_rule = self.object.resource().name_rule;
        let meta = self.object.meta_mut();
        meta.creation_timestamp = write.now;
        meta.uid = uid;
        if meta.name.is_empty() && !meta.generate_name.is_empty() {
            meta.name = match name_rule {
                // Appended letters cannot turn the start of an address into an address.
                NameRule::IpAddress => meta.generate_name.clone(),
                _ => generated_name(&meta.generate_name),
            };
        }
        write.endpoint.set_namespace(meta, write.call.namespace())?;
        Ok(self)
    }

    /// The object, for kinds that are answered and not stored.
    pub(crate) fn into_object(self) -> Box<dyn Object> {
        self.object
    }
}
