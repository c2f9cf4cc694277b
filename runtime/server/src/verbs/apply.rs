//! Server-side apply.

use axum::response::Response;
use bytes::Bytes;
use planesmith_machinery::heap_size;
use planesmith_machinery::json;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ScaleFacts;
use planesmith_machinery::scale::v1::Scale;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_patch::apply::{self, Sent};
use planesmith_patch::managers::ScaleManagers;

use super::scale::{self, scale_of, scaled};
use crate::endpoint::{Call, Endpoint};
use crate::negotiation::Output;
use crate::offload::Cost;
use crate::options::{FieldValidation, WriteOptions};
use crate::representation::read_typed;
use crate::write::{Change, Defaulted, DocumentFacts, Part, Write};

impl Endpoint {
    /// Applies a manager's configuration to a part of an object; a missing object is created.
    pub(super) async fn apply(&self, call: &Call, body: Bytes, part: Part<'_>, output: Output) -> ApiResult<Response> {
        let options = WriteOptions::for_apply(call.query())?;
        let bodies = self.stores().large_bodies();
        // Until it is parsed, an apply counts as YAML.
        let cost = Cost::of_yaml(body.len());
        let sent = self.run(call, body.len(), cost, || Sent::read(&body)).await??;
        let _counted = bodies.count(body.len(), || heap_size::of_tree(&sent.document))?;
        let write = Write::new(self, call, &options, body.len())
            .of_part(part)
            .with_managers();
        drop(body);
        let merge = |live: &dyn Object| {
            sent.check(&self.kind().api_version, &self.kind().kind)?;
            let versions = &**self.stores().scheme();
            let applied = apply::apply(live, &sent.document, &write.tracking(), options.force, versions)
                .map_err(|error| error.to_api_error(&sent.subject()))?;
            check_duplicates(call, &sent, options.field_validation)?;
            let mut object = self.kind().zero();
            let read = self
                .representation()
                .read_applied(applied.document, &sent, &mut *object);
            let lost = read.map_err(|why| unconvertible(why, &sent))?;
            if let Some(why) = object.resource().extensions.hooks.conversion_problem(&*object) {
                let message = format!("failed to convert to unversioned ({}): {why}", sent.subject());
                return Err(ApiError::unnamed(500, message));
            }
            let mut document_facts =
                DocumentFacts::by_configuration(self.representation(), object.facts(), &sent.document);
            document_facts.add_pruned(object.resource(), &lost);
            Ok((object, document_facts, applied.managed_fields))
        };
        let finish = |(object, document_facts, managed_fields): (Box<dyn Object>, DocumentFacts, _)| {
            let defaulted = Defaulted::patched(self, call, object, document_facts)?;
            Ok(defaulted.with_managed_fields(managed_fields))
        };
        let make = |live: &dyn Object| finish(merge(live)?);
        let missing = || {
            let merged = merge(&*self.kind().zero())?;
            match &*merged.0.meta().uid {
                "" => finish(merged),
                uid => Err(ApiError::uid_of_missing_object(
                    &self.kind().group_resource(),
                    call.name(),
                    uid,
                )),
            }
        };
        let change = Change {
            part,
            make: &make,
            otherwise: (matches!(part, Part::Object) || part.creates(self.kind())).then_some(&missing),
            uid: "",
        };
        let changed = write.change(call.name(), &change).await?;
        write.respond(changed.code(), output, changed.committed).await
    }

    /// Applies a manager's number of replicas.
    pub(super) async fn apply_scale(
        &self,
        call: &Call,
        body: Bytes,
        facts: &ScaleFacts,
        output: Output,
    ) -> ApiResult<Response> {
        let options = WriteOptions::for_apply(call.query())?;
        let bodies = self.stores().large_bodies();
        // Until it is parsed, an apply counts as YAML.
        let cost = Cost::of_yaml(body.len());
        let sent = self.run(call, body.len(), cost, || Sent::read(&body)).await??;
        let _counted = bodies.count(body.len(), || heap_size::of_tree(&sent.document))?;
        let write = Write::new(self, call, &options, body.len()).with_managers();
        drop(body);
        let make = |live: &dyn Object| {
            sent.check(scale::EXPECTED.api_version, scale::EXPECTED.kind)?;
            let shown = scale_of(live, facts)?;
            let stored = &live.meta().managed_fields;
            let managers = ScaleManagers::read(stored, self.kind(), &facts.spec_replicas)
                .ok_or_else(|| ApiError::internal("the managers of the object cannot be read"))?;
            let unappliable = self.representation().unappliable_scale();
            if let Some(why) = unappliable
                && managers.of_scale().is_empty()
            {
                let why = format!(
                    "failed to create manager for existing fields: {}",
                    unscalable("live", why)
                );
                return Err(ApiError::unnamed(500, why));
            }
            let applied = apply::apply_scale(&shown, managers, &sent.document, &write.tracking(), options.force)
                .map_err(|error| error.to_api_error(&sent.subject()))?;
            // A Scale that stays as it is needs no conversion.
            if let Some(why) = unappliable
                && applied.document != json::to_value(&shown)
            {
                return Err(ApiError::unnamed(500, unscalable("new", why)));
            }
            check_duplicates(call, &sent, options.field_validation)?;
            let mut wanted = Scale::default();
            let read = read_typed(&applied.document, &sent, &mut wanted);
            read.map_err(|why| unconvertible(why, &sent))?;
            self.check_path_names(&mut wanted.metadata, call)?;
            Ok(scaled(live, &wanted, facts)?.with_managed_fields(applied.managed_fields))
        };
        self.write_scale(&write, output, facts, "", &make).await
    }
}

/// The problem of a Scale that is not a version of its object.
fn unscalable(what: &str, why: &str) -> String {
    format!("failed to convert {what} object (/; autoscaling/v1, Kind=Scale) to proper version: {why}")
}

fn unconvertible(why: String, sent: &Sent) -> ApiError {
    apply::ApplyError::Unconvertible(why).to_api_error(&sent.subject())
}

/// Refuses, warns of or ignores repeated keys in an applied document.
fn check_duplicates(call: &Call, sent: &Sent, validation: FieldValidation) -> ApiResult<()> {
    match validation {
        FieldValidation::Ignore => {}
        FieldValidation::Warn => {
            for duplicate in sent.duplicates() {
                call.ctx.warnings.add(duplicate.as_str());
            }
        }
        FieldValidation::Strict => {
            if let Some(error) = sent.refuse_strictly() {
                return Err(error);
            }
        }
    }
    Ok(())
}
