//! A client: random calls, one after the other.

use std::collections::BTreeMap;
use std::time::Duration;

use fastrand::Rng;
use planesmith_store::conformance::{THINGS, key};
use planesmith_store::{At, Clock as _, Entry, Expect, ListQuery, Op, Revision, WriteError, WriteResult};

use crate::payload;
use crate::record::{Answer, Call, Precondition, State};
use crate::target::{Load, Target};

/// Maximum time that a read waits for the newest state.
const DEADLINE: Duration = Duration::from_secs(10);

/// A client of a store.
#[derive(Debug)]
pub(crate) struct Client {
    target: Target,
    load: Load,
    random: Rng,
    /// The revisions of the states that this client saw last.
    seen: BTreeMap<String, u64>,
}

impl Client {
    /// Returns a client whose calls follow from `random`, and from the answers.
    #[must_use]
    pub(crate) fn new(target: Target, load: Load, random: Rng) -> Self {
        Self {
            target,
            load,
            random,
            seen: BTreeMap::new(),
        }
    }

    /// Writes once; true if the write was answered as performed.
    pub(crate) async fn probe(&mut self) -> bool {
        let name = self.name();
        self.put_with(name, Precondition::Any).await
    }

    /// Makes all calls.
    pub(crate) async fn run(mut self) {
        for _ in 0..self.load.calls {
            self.step().await;
            // So that clients overlap in different ways.
            if self.random.bool() {
                tokio::task::yield_now().await;
            }
        }
    }

    async fn step(&mut self) {
        match self.random.u8(0..100) {
            0..48 => self.put().await,
            48..62 => self.delete().await,
            62..82 => self.get().await,
            82..88 => drop(self.list(None, None, None).await),
            88..91 => self.list_former().await,
            91..94 => self.list_in_pages().await,
            94..98 if self.load.compacts => self.compact(),
            98.. if self.load.jumps => self.jump(),
            _ => self.get().await,
        }
    }

    /// Waits until reads are as of now; false if that takes too long.
    async fn is_fresh(&self) -> bool {
        self.target.storage.fresh(DEADLINE).await.is_ok()
    }

    fn name(&mut self) -> String {
        format!("n{}", self.random.usize(0..self.load.names))
    }

    fn precondition(&mut self, name: &str) -> Precondition {
        match self.random.u8(0..10) {
            0..2 => Precondition::Absent,
            2..4 => Precondition::Present,
            4..6 => Precondition::Any,
            _ => self
                .seen
                .get(name)
                .map_or(Precondition::Absent, |revision| Precondition::Revision(*revision)),
        }
    }

    async fn put(&mut self) {
        let name = self.name();
        let expect = self.precondition(&name);
        self.put_with(name, expect).await;
    }

    async fn put_with(&mut self, name: String, expect: Precondition) -> bool {
        let length = self.random.usize(0..self.load.largest);
        let expires = self.load.jumps && self.random.u8(0..8) == 0;
        let ttl = expires.then(|| self.random.u64(1..100_000));
        let recorder = &self.target.recorder;
        let id = recorder.call(|id| Call::Put {
            name: name.clone(),
            word: payload::name(id, length),
            expect,
            ttl,
        });
        let draft = payload::draft(&payload::name(id, length));
        let key = key(&name);
        let row = self.target.things.indexer().row(&key, draft.bytes());
        let op = Op::Put {
            key,
            draft,
            row,
            expect: expect.into(),
            ttl: ttl.map(Duration::from_millis),
        };
        let result = self.target.things.write(op).await;
        self.note(name, &result);
        let is_written = result.is_ok();
        self.target.recorder.answer(id, answer(result));
        is_written
    }

    async fn delete(&mut self) {
        let name = self.name();
        let expect = self.precondition(&name);
        let id = self.target.recorder.call(|_| Call::Delete {
            name: name.clone(),
            expect,
        });
        let op = Op::Delete {
            key: key(&name),
            expect: expect.into(),
            last: None,
        };
        let result = self.target.things.write(op).await;
        self.target.recorder.answer(id, answer(result));
    }

    fn note(&mut self, name: String, result: &WriteResult) {
        let revision = match result {
            Ok(written) => Some(written.revision()),
            Err(WriteError::Conflict { current }) => current.as_ref().map(|entry| entry.revision()),
            Err(_) => return,
        };
        match revision {
            Some(revision) => self.seen.insert(name, revision.0),
            None => self.seen.remove(&name),
        };
    }

    async fn get(&mut self) {
        let name = self.name();
        let id = self.target.recorder.call(|_| Call::Get { name: name.clone() });
        if !self.is_fresh().await {
            self.target.recorder.answer(id, Answer::Done);
            return;
        }
        let found = self.target.things.get(&key(&name)).map(|entry| state(&entry));
        if let Some(found) = &found {
            self.seen.insert(name, found.revision);
        }
        self.target.recorder.answer(id, Answer::Got(found));
    }

    /// Reads a page. Returns its revision and the name of its last entry, if there is another page.
    async fn list(&mut self, at: Option<u64>, after: Option<&str>, limit: Option<usize>) -> Option<(u64, String)> {
        let id = self.target.recorder.call(|_| Call::List {
            at,
            after: after.map(str::to_owned),
            limit,
        });
        // A page may come from another server than the one before.
        let is_there = match at {
            None => self.is_fresh().await,
            Some(revision) => self.target.storage.wait_for(Revision(revision), DEADLINE).await,
        };
        if !is_there {
            self.target.recorder.answer(id, Answer::Done);
            return None;
        }
        let start = after.map(|name| format!("{THINGS}{name}\0"));
        let query = ListQuery {
            at: at.map_or(At::Latest, |revision| At::Exact(Revision(revision))),
            start: start.as_deref(),
            limit,
            ..ListQuery::all(THINGS)
        };
        let page = match self.target.things.list(&query) {
            Ok(page) => page,
            Err(compacted) => {
                let oldest = compacted.oldest.0;
                self.target.recorder.answer(id, Answer::Compacted { oldest });
                return None;
            }
        };
        let entries: Vec<State> = page.entries.iter().map(|entry| state(entry)).collect();
        let next = entries.last().filter(|_| page.more).map(|last| last.name.clone());
        let answer = Answer::Page {
            revision: page.revision.0,
            entries,
            more: page.more,
            remaining: page.remaining,
        };
        self.target.recorder.answer(id, answer);
        Some((page.revision.0, next?))
    }

    fn former(&mut self) -> u64 {
        let storage = &self.target.storage;
        let (oldest, newest) = (storage.oldest().0, storage.revision().0);
        // Now and then one that is forgotten.
        let oldest = if self.random.u8(0..10) == 0 { 0 } else { oldest };
        self.random.u64(oldest.min(newest)..=newest)
    }

    async fn list_former(&mut self) {
        let revision = self.former();
        self.list(Some(revision), None, None).await;
    }

    async fn list_in_pages(&mut self) {
        let limit = Some(self.random.usize(1..4));
        let at = self.random.bool().then(|| self.former());
        let mut next = self.list(at, None, limit).await;
        while let Some((revision, last)) = next {
            next = self.list(Some(revision), Some(&last), limit).await;
        }
    }

    fn compact(&mut self) {
        let revision = self.former();
        let id = self.target.recorder.call(|_| Call::Compact { revision });
        self.target.storage.compact(Revision(revision));
        self.target.recorder.answer(id, Answer::Done);
    }

    fn jump(&mut self) {
        let now = self.target.clock.unix_millis();
        let by = self.random.u64(0..200_000);
        let now = match self.random.u8(0..3) {
            0 => now.saturating_sub(by),
            _ => now + by,
        };
        self.target.recorder.set_clock(&self.target.clock, now);
        self.target.storage.recheck_clock();
    }
}

impl From<Precondition> for Expect {
    fn from(precondition: Precondition) -> Self {
        match precondition {
            Precondition::Absent => Self::Absent,
            Precondition::Present => Self::Present,
            Precondition::Revision(revision) => Self::Revision(Revision(revision)),
            Precondition::Any => Self::Any,
        }
    }
}

fn state(entry: &Entry) -> State {
    payload::state(THINGS, entry)
}

fn answer(result: WriteResult) -> Answer {
    match result {
        Ok(written) => Answer::Written {
            revision: written.revision().0,
            previous: written.previous.as_ref().map(|entry| state(entry)),
        },
        Err(WriteError::Conflict { current }) => Answer::Conflict {
            current: current.as_ref().map(|entry| state(entry)),
        },
        Err(error @ (WriteError::Io(_) | WriteError::OutcomeUnknown(_))) => Answer::Unknown(error.to_string()),
        Err(
            error @ (WriteError::Full
            | WriteError::TooLarge { .. }
            | WriteError::Closed
            | WriteError::ReadOnly(_)
            | WriteError::Transform(_)
            | WriteError::Unavailable(_)),
        ) => Answer::Refused(error.to_string()),
    }
}
