//! A decision, or the wait for it.

use super::Decision;
use crate::outcome::Outcome;

/// The decision of a local authorizer, which is ready at once, or the wait for that of another server.
pub type AuthorizationOutcome = Outcome<'static, Decision>;

impl AuthorizationOutcome {
    /// Permission without a reason.
    pub const ALLOW: AuthorizationOutcome = AuthorizationOutcome::Ready(Decision::ALLOW);

    /// No opinion, without a reason.
    pub const NO_OPINION: AuthorizationOutcome = AuthorizationOutcome::Ready(Decision::NoOpinion(String::new()));
}
