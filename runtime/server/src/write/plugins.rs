//! Requests as admission plugins see them, and the plugins of requests without a new object.

use planesmith_access::admission::{Attributes, ConnectOptions, Objects, Operation};
use planesmith_machinery::object::Object;
use planesmith_machinery::status::ApiResult;
use planesmith_machinery::value::Struct;

use super::Write;
use crate::request::Stage;

impl Write<'_> {
    /// Runs the plugins for the removal of an object, with options as the request means them.
    pub(crate) async fn admit_removal(&self, name: &str, old: &dyn Object, options: &dyn Struct) -> ApiResult<()> {
        let chain = self.endpoint.stores().admission();
        let warn = |text: String| self.call.ctx.warnings.add(text);
        let attributes = Attributes {
            options: Some(options),
            ..self.attributes(Operation::Delete, name, &warn)
        };
        let mut objects = Objects {
            new: None,
            old: Some(old),
        };
        let timeline = &self.call.ctx.timeline;
        let mutate = chain.mutate(&attributes, &mut objects);
        timeline.wait(Stage::Admission, mutate).await?;
        let validate = chain.validate(&attributes, &objects);
        timeline.wait(Stage::Admission, validate).await
    }

    /// Runs the plugins for a connection to the object in the path, and returns its options as the plugins left them.
    pub(crate) async fn admit_connection<O: Struct>(&self, options: O) -> ApiResult<O> {
        let chain = self.endpoint.stores().admission();
        let warn = |text: String| self.call.ctx.warnings.add(text);
        let options = ConnectOptions::new(options);
        let attributes = Attributes {
            options: None,
            connection: Some(&options),
            ..self.attributes(Operation::Connect, self.call.name(), &warn)
        };
        let mut objects = Objects { new: None, old: None };
        chain.mutate(&attributes, &mut objects).await?;
        chain.validate(&attributes, &objects).await?;
        Ok(options.into_inner().expect("plugins change fields, not the type"))
    }

    /// The attributes of this write for plugins; `name` is that of the object, as far as it has one.
    pub(super) fn attributes<'w>(
        &'w self,
        operation: Operation,
        name: &'w str,
        warn: &'w (dyn Fn(String) + Sync),
    ) -> Attributes<'w> {
        let resource = self.endpoint.kind();
        // An object that is posted to a subresource need not have a name.
        let name = if name.is_empty() { self.call.name() } else { name };
        Attributes {
            subresource: self.subresource,
            namespace: if resource.behavior.is_namespace {
                name
            } else {
                self.call.namespace()
            },
            name,
            dry_run: self.dry_run,
            options: Some(&*self.options),
            deadline: self.call.ctx.deadline,
            warn,
            annotations: &self.call.ctx.annotations,
            ..Attributes::new(operation, resource, &self.call.ctx.user)
        }
    }
}
