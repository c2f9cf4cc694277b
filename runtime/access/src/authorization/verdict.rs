//! A decision, or the wait for it.

use super::Decision;
use crate::outcome::Outcome;

/// The decision of a local authorizer, which is ready at once, or the wait for that of another server.
pub type Verdict = Outcome<'static, Decision>;

impl Verdict {
    /// Permission without a reason.
    pub const ALLOW: Verdict = Verdict::Ready(Decision::ALLOW);

    /// No opinion, without a reason.
    pub const NO_OPINION: Verdict = Verdict::Ready(Decision::NoOpinion(String::new()));
}
