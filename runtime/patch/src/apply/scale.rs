//! Applying to a Scale, which shows one field of another object.

use planesmith_machinery::json;
use planesmith_machinery::scale::v1::Scale;
use planesmith_machinery::value::Struct;
use serde_json::Value;

use super::managers::{Conversions, Target};
use super::object::BEFORE;
use super::{Applied, ApplyError};
use crate::documents::KindSchema;
use crate::fields::{Ignored, Set, compare};
use crate::managers::{Operation, SCALE, ScaleManagers, Tracking, unmanaged};

/// Applies `applied` to the Scale `live` of an object with `managers`. The managed fields of the outcome are those of the
/// object.
///
/// # Errors
///
/// As [`super::apply`].
pub fn apply_scale(
    live: &Scale,
    managers: ScaleManagers<'_>,
    applied: &Value,
    write: &Tracking<'_>,
    force: bool,
) -> Result<Applied, ApplyError> {
    let mut scalers = managers.scalers();
    if scalers.is_empty() {
        // Its fields count as written before.
        let nothing = Scale::default();
        let mut held = compare(&nothing, live, &Ignored::NOTHING).added.into_owned();
        held.remove(&unmanaged());
        let (operation, time) = (Operation::Update, Some(write.now));
        scalers.add(BEFORE, operation, SCALE, write.subresource, held, time);
        scalers.retain(|entry| !entry.set.is_empty());
    }
    let target = Target {
        api_version: SCALE,
        schema: &KindSchema::Declared(live.facts()),
        conversions: &OneVersion,
        ignored: Set::new(),
        unmanaged: unmanaged(),
        write: *write,
        force,
    };
    let document = target.apply(&json::to_value(live), applied, &mut scalers)?;
    Ok(Applied {
        document,
        managed_fields: managers.of_object(&scalers),
    })
}

/// A Scale has one version.
struct OneVersion;

impl Conversions for OneVersion {
    fn convert(&self, _: &Value, _: &str, _: &str) -> Result<Option<(Value, KindSchema)>, ApplyError> {
        Ok(None)
    }

    fn ignored(&self, _: &str) -> Set<'static> {
        Set::new()
    }
}
