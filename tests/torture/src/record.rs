//! Observations of clients, in the order in which they were made.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One observation. Its position in a history is its instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Record {
    /// The store was opened, possibly after a crash. Calls without a return ended before.
    Opened {
        /// Its newest revision.
        revision: u64,
        /// Its oldest revision.
        oldest: u64,
    },
    /// A client is about to call the store.
    Call {
        /// The number of the call.
        id: u64,
        /// The call.
        call: Call,
    },
    /// The call has returned.
    Return {
        /// The number of the call.
        id: u64,
        /// The answer.
        answer: Answer,
    },
    /// A watch has delivered changes together.
    Batch {
        /// The number of the call that started the watch.
        watch: u64,
        /// The changes, in the delivered order.
        events: Vec<Change>,
        /// The revision up to which the watch declares to have delivered everything.
        progress: u64,
    },
    /// A watch has ended, because changes that it had not delivered were forgotten.
    Cut {
        /// The number of the call that started the watch.
        watch: u64,
        /// The oldest revision after which a watch can start.
        oldest: u64,
    },
    /// The clock of the store is about to be set.
    Clock {
        /// Milliseconds since 1970.
        now: u64,
    },
    /// The store did not do in time what it has to do.
    Stuck {
        /// The missing effect.
        reason: String,
    },
}

/// A call of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Call {
    /// Gives a key a new state.
    Put {
        /// The key.
        name: String,
        /// The state; no other put has the same.
        word: String,
        /// The precondition.
        expect: Precondition,
        /// Milliseconds until the state expires.
        ttl: Option<u64>,
    },
    /// Deletes a key.
    Delete {
        /// The key.
        name: String,
        /// The precondition.
        expect: Precondition,
    },
    /// Reads a key.
    Get {
        /// The key.
        name: String,
    },
    /// Reads a page of all keys.
    List {
        /// The revision; `None` for the newest.
        at: Option<u64>,
        /// The name after which the page starts.
        after: Option<String>,
        /// Maximum number of entries.
        limit: Option<usize>,
    },
    /// Starts a watch.
    Watch {
        /// The revision after which it starts; `None` for the newest.
        after: Option<u64>,
    },
    /// Forgets history.
    Compact {
        /// The revision up to which history is forgotten.
        revision: u64,
    },
}

/// The precondition of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Precondition {
    /// The key has no state.
    Absent,
    /// The key has a state.
    Present,
    /// The key's state has this revision.
    Revision(u64),
    /// None.
    Any,
}

/// The answer of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// The write was performed.
    Written {
        /// Its revision.
        revision: u64,
        /// The state before.
        previous: Option<State>,
    },
    /// The precondition was not met.
    Conflict {
        /// The state that contradicts it.
        current: Option<State>,
    },
    /// The write was not performed, for this reason.
    Refused(String),
    /// The write may have been performed.
    Unknown(String),
    /// The state of the key.
    Got(Option<State>),
    /// A page of a list.
    Page {
        /// The revision of the states.
        revision: u64,
        /// The states.
        entries: Vec<State>,
        /// True if more follow.
        more: bool,
        /// The number of states that follow.
        remaining: Option<u64>,
    },
    /// The requested history is forgotten.
    Compacted {
        /// The oldest revision that is not.
        oldest: u64,
    },
    /// The watch delivers the changes after this revision.
    Watching {
        /// The revision.
        after: u64,
    },
    /// Nothing else to report.
    Done,
}

/// The state of one key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct State {
    /// The key.
    #[serde(rename = "n")]
    pub name: String,
    /// The object; see [`crate::payload`].
    #[serde(rename = "w")]
    pub word: String,
    /// The revision of its write.
    #[serde(rename = "r")]
    pub revision: u64,
}

/// One change, as a watch delivers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The effect.
    #[serde(rename = "k")]
    pub kind: Kind,
    /// The new state, or the final state of a deleted key.
    #[serde(rename = "s")]
    pub state: State,
    /// The state before.
    #[serde(rename = "p")]
    pub previous: Option<State>,
}

/// The effect of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// The key had no state.
    Created,
    /// The key had another state.
    Changed,
    /// The key has no state any more.
    Deleted,
}

impl Call {
    /// The key of a write.
    #[must_use]
    pub fn written(&self) -> Option<&str> {
        match self {
            Self::Put { name, .. } | Self::Delete { name, .. } => Some(name),
            Self::Get { .. } | Self::List { .. } | Self::Watch { .. } | Self::Compact { .. } => None,
        }
    }
}

impl Precondition {
    /// True if a key whose state has `revision` meets it; `None` stands for no state.
    #[must_use]
    pub fn holds(self, revision: Option<u64>) -> bool {
        match self {
            Self::Absent => revision.is_none(),
            Self::Present => revision.is_some(),
            Self::Revision(expected) => revision == Some(expected),
            Self::Any => true,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}={}@{}", self.name, self.word, self.revision)
    }
}

impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.kind {
            Kind::Created => '+',
            Kind::Changed => '~',
            Kind::Deleted => '-',
        };
        write!(formatter, "{sign}{}", self.state)
    }
}

impl fmt::Display for Record {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call { id, call } => write!(formatter, "#{id} {call:?}"),
            Self::Return { id, answer } => write!(formatter, "#{id} -> {answer:?}"),
            Self::Batch {
                watch,
                events,
                progress,
            } => {
                write!(formatter, "watch #{watch}:")?;
                for event in events {
                    write!(formatter, " {event}")?;
                }
                write!(formatter, ", complete to {progress}")
            }
            other => write!(formatter, "{other:?}"),
        }
    }
}
