//! Conditions of pods that the server itself sets.

use planesmith_api_defs::core::v1::{PodCondition, PodStatus};
use planesmith_machinery::time::Time;

/// Sets a condition. Its last transition time stays if the status does.
pub(super) fn set_condition(status: &mut PodStatus, condition: PodCondition, now: Time) {
    let existing = status
        .conditions
        .iter_mut()
        .find(|existing| existing.type_ == condition.type_);
    match existing {
        None => status.conditions.push(PodCondition {
            last_transition_time: now,
            ..condition
        }),
        Some(existing) => {
            let since = match existing.status == condition.status {
                true => existing.last_transition_time,
                false => now,
            };
            *existing = PodCondition {
                last_transition_time: since,
                ..condition
            };
        }
    }
}
