//! Applying to an object.

use planesmith_dynamic::custom::AsCustom;
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::meta::ManagedFieldsEntry;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use serde_json::Value;

use super::last_applied;
use super::managers::{Conversions, Target};
use super::{Applied, ApplyError};
use crate::documents::KindSchema;
use crate::fields::Set;
use crate::managers::{Entries, Tracking, Versions, reset_fields, track_write, unmanaged};

/// The manager of fields that were set before the first apply.
pub(super) const BEFORE: &str = "before-first-apply";

/// Applies `applied` to `live`, a zero object if the object does not exist. Both are in the version of the request.
///
/// `force` takes fields from other managers instead of reporting conflicts.
///
/// # Errors
///
/// If the document does not match the kind, or other managers own its fields with other values.
pub fn apply(
    live: &dyn Object,
    applied: &Value,
    write: &Tracking<'_>,
    force: bool,
    versions: &dyn Versions,
) -> Result<Applied, ApplyError> {
    let kind = live.resource();
    let made;
    let known = match Entries::read(&live.meta().managed_fields).filter(|entries| !entries.is_empty()) {
        Some(known) => known,
        None => {
            made = managers_from_before(live, write, versions)?;
            Entries::read(&made).unwrap_or_default()
        }
    };
    let document = document_of(live)?;
    let conversions = ByObject {
        kind,
        versions,
        subresource: write.subresource,
    };
    let schema = KindSchema::from_object(live);
    let mut target = Target {
        api_version: &kind.api_version,
        schema: &schema,
        conversions: &conversions,
        ignored: reset_fields(kind, write.subresource, kind),
        unmanaged: unmanaged(),
        write: *write,
        force,
    };
    let run = |target: &Target<'_>| {
        let mut entries = known.clone();
        let document = target.apply(&document, applied, &mut entries)?;
        Ok(Applied {
            document,
            managed_fields: entries.write(),
        })
    };
    let mut outcome = run(&target);
    if let Err(ApplyError::Conflicts(conflicts)) = &outcome
        && last_applied::is_kubectl(write.manager)
        && let Some(allowed) = last_applied::matching(live, &document, schema.get())
    {
        let left: Vec<_> = conflicts
            .iter()
            .filter(|conflict| !allowed.contains(&conflict.field))
            .cloned()
            .collect();
        outcome = if left.is_empty() {
            target.force = true;
            run(&target)
        } else {
            Err(ApplyError::Conflicts(left))
        };
    }
    let mut outcome = outcome?;
    if last_applied::is_kubectl(write.manager) && last_applied::of(live).is_some() {
        last_applied::write(&mut outcome.document, applied);
    }
    Ok(outcome)
}

/// Returns the managers of an object without any: one that owns the existing fields.
fn managers_from_before(
    live: &dyn Object,
    write: &Tracking<'_>,
    versions: &dyn Versions,
) -> Result<Vec<ManagedFieldsEntry>, ApplyError> {
    let mut object = live.boxed();
    let before = Tracking {
        manager: BEFORE,
        ..*write
    };
    track_write(None, &mut *object, &before, versions)
        .map_err(|error| ApplyError::Unversioned(error.message().to_owned()))
        .map_err(|error| error.while_doing("failed to create manager for existing fields"))?;
    Ok(std::mem::take(&mut object.meta_mut().managed_fields))
}

/// Returns the object as a document without managed fields.
fn document_of(object: &dyn Object) -> Result<Value, ApplyError> {
    if let Some(object) = object.as_custom() {
        return Ok(object.to_unmanaged_document());
    }
    let mut document = json::try_to_value(object).map_err(|error| ApplyError::Unconvertible(error.to_string()))?;
    if let Some(Value::Object(metadata)) = document.get_mut("metadata") {
        metadata.remove("managedFields");
    }
    Ok(document)
}

/// Converts documents as objects.
struct ByObject<'a> {
    kind: &'a ResourceFacts,
    versions: &'a dyn Versions,
    subresource: &'a str,
}

impl ByObject<'_> {
    fn zero(&self, api_version: &str) -> Option<Box<dyn Object>> {
        let zero = self.kind.zero();
        if api_version == self.kind.api_version {
            return Some(zero);
        }
        self.versions.zero(&*zero, api_version)
    }
}

impl Conversions for ByObject<'_> {
    fn ignored(&self, api_version: &str) -> Set<'static> {
        let zero = self.zero(api_version);
        zero.map_or_else(Set::new, |zero| {
            reset_fields(zero.resource(), self.subresource, self.kind)
        })
    }

    fn convert(&self, document: &Value, from: &str, to: &str) -> Result<Option<(Value, KindSchema)>, ApplyError> {
        let Some(mut object) = self.zero(from) else {
            return Ok(None);
        };
        json::from_value(document, &mut *object, Strictness::Lenient)
            .map_err(|error| ApplyError::Unversioned(error.to_string()))?;
        let converted = self.versions.convert(&*object, to);
        let converted = converted.map_err(|error| ApplyError::Unversioned(error.message().to_owned()))?;
        let Some(converted) = converted else {
            return Ok(None);
        };
        Ok(Some((document_of(&*converted)?, KindSchema::from_object(&*converted))))
    }
}
