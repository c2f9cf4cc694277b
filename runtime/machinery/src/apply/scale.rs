//! Applying to a Scale, which shows one field of another object.

use serde_json::Value;

use super::managers::{Conversions, Target, unmanaged};
use super::schema::Schema;
use super::{Applied, ApplyError};
use crate::fields::{Entries, Entry, PathElement, Set, Tracking};
use crate::json;
use crate::meta::ManagedFieldsEntry;
use crate::scale::v1::Scale;
use crate::value::Struct;

const API_VERSION: &str = "autoscaling/v1";

/// Applies `applied` to the Scale of an object with the managed fields `stored`, whose replicas are at the dotted `path`
/// in the version `api_version`. The managed fields of the outcome are those of the object.
///
/// # Errors
///
/// As [`super::apply`].
pub fn apply_scale(
    live: &Scale,
    stored: &[ManagedFieldsEntry],
    (api_version, path): (&str, &str),
    applied: &Value,
    write: &Tracking<'_>,
    force: bool,
) -> Result<Applied, ApplyError> {
    let in_scale = Set::of([["spec", "replicas"].map(PathElement::field)]);
    let in_object: Vec<PathElement<'static>> = path
        .split('.')
        .map(|step| PathElement::field(step.to_owned()))
        .collect();
    let mut parent = Entries::read(stored).unwrap_or_default();
    let mut seen = Entries::default();
    for entry in parent.as_slice() {
        if entry.api_version == api_version && entry.set.contains(&in_object) {
            let (manager, subresource) = (&entry.manager, &entry.subresource);
            seen.add(
                manager,
                entry.operation,
                API_VERSION,
                subresource,
                in_scale.clone(),
                entry.time,
            );
        }
    }
    let target = Target {
        api_version: API_VERSION,
        schema: Schema::Kind(live.facts()),
        conversions: &OneVersion,
        ignored: Set::new(),
        unmanaged: unmanaged(),
        write: *write,
        force,
    };
    let document = target.apply(&json::to_value(live), applied, &mut seen)?;
    let replicas = Set::of([in_object]);
    let scalers = seen.as_slice();
    parent.retain(|entry| {
        // Whoever has a say about the Scale keeps what it had, even when it has let go of the number.
        let scales = |scaler: &Entry<'_>| {
            scaler.operation == entry.operation
                && scaler.manager == entry.manager
                && scaler.subresource == entry.subresource
        };
        if !scalers.iter().any(scales) {
            entry.give_up(&replicas);
        }
        !entry.set.is_empty()
    });
    for scaler in scalers.iter().filter(|scaler| scaler.set.intersects(&in_scale)) {
        let (manager, subresource) = (&scaler.manager, &scaler.subresource);
        if parent
            .index(manager, scaler.operation, api_version, subresource)
            .is_none()
        {
            // A manager that comes this way has no time of its own.
            parent.add(
                manager,
                scaler.operation,
                api_version,
                subresource,
                replicas.clone(),
                None,
            );
        }
    }
    Ok(Applied {
        document,
        managed_fields: parent.write(),
    })
}

/// A Scale has one version.
struct OneVersion;

impl Conversions for OneVersion {
    fn convert(&self, _: &Value, _: &str, _: &str) -> Result<Option<(Value, Schema)>, ApplyError> {
        Ok(None)
    }

    fn schema(&self, _: &str) -> Option<Schema> {
        None
    }
}
