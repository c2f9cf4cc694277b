//! The amount of a request that is recorded, and the moments at which it is.

use serde::Deserialize;

/// The amount of a request that is recorded. Each level includes the ones before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Level {
    /// Nothing.
    #[default]
    None,
    /// The user, the target, the time and the result.
    Metadata,
    /// Also the object of the request.
    Request,
    /// Also the object of the answer.
    RequestResponse,
}

impl Level {
    /// All levels, in ascending order.
    pub const ALL: [Level; 4] = [Level::None, Level::Metadata, Level::Request, Level::RequestResponse];

    /// Returns the level as policies and events write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Level::None => "None",
            Level::Metadata => "Metadata",
            Level::Request => "Request",
            Level::RequestResponse => "RequestResponse",
        }
    }

    /// Returns the level of this name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }
}

/// A moment of a request at which an event is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The request has arrived and its user is known.
    RequestReceived,
    /// The head of the answer is sent; only for requests that run long, such as watches, and for refused credentials.
    ResponseStarted,
    /// The answer is complete.
    ResponseComplete,
    /// The handler has panicked.
    Panic,
}

impl Stage {
    /// All stages, in the order of their events.
    pub const ALL: [Stage; 4] = [
        Stage::RequestReceived,
        Stage::ResponseStarted,
        Stage::ResponseComplete,
        Stage::Panic,
    ];

    /// Returns the stage as policies and events write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Stage::RequestReceived => "RequestReceived",
            Stage::ResponseStarted => "ResponseStarted",
            Stage::ResponseComplete => "ResponseComplete",
            Stage::Panic => "Panic",
        }
    }

    /// Returns the stage of this name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.as_str() == name)
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stages(u8);

impl Stages {
    /// No stage.
    pub const NONE: Stages = Stages(0);

    /// True if `stage` is in the set.
    #[must_use]
    pub const fn contains(self, stage: Stage) -> bool {
        self.0 & stage.bit() != 0
    }

    /// Returns the stages of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl FromIterator<Stage> for Stages {
    fn from_iter<I: IntoIterator<Item = Stage>>(stages: I) -> Self {
        Self(stages.into_iter().fold(0, |bits, stage| bits | stage.bit()))
    }
}
