//! A decision, or the wait for it.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Decision;

const NO_OPINION: Decision = Decision::NoOpinion(String::new());

/// A decision that is available at once, or a wait for it. Awaiting it returns the decision.
#[must_use]
pub enum Verdict {
    /// The decision of a local authorizer.
    Decided(Decision),
    /// The decision of another server. Dropping the future abandons the question.
    Pending(Pin<Box<dyn Future<Output = Decision> + Send>>),
}

impl Verdict {
    /// Permission without a reason.
    pub const ALLOW: Verdict = Verdict::Decided(Decision::ALLOW);

    /// No opinion, without a reason.
    pub const NO_OPINION: Verdict = Verdict::Decided(NO_OPINION);

    /// Wraps the question to another server.
    pub fn pending(question: impl Future<Output = Decision> + Send + 'static) -> Self {
        Self::Pending(Box::pin(question))
    }
}

impl From<Decision> for Verdict {
    fn from(decision: Decision) -> Self {
        Self::Decided(decision)
    }
}

impl Future for Verdict {
    type Output = Decision;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Decision> {
        match self.get_mut() {
            Verdict::Decided(decision) => Poll::Ready(std::mem::replace(decision, NO_OPINION)),
            Verdict::Pending(question) => question.as_mut().poll(context),
        }
    }
}

impl fmt::Debug for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Decided(decision) => f.debug_tuple("Decided").field(decision).finish(),
            Verdict::Pending(_) => f.write_str("Pending"),
        }
    }
}
