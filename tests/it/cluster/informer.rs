//! An informer: it lists, watches, and resumes its watch on either server.

use std::collections::BTreeMap;
use std::time::Duration;

use planesmith_e2e::Watch;
use planesmith_torture::record::{Answer, Call, Change, Kind, Record, State};
use serde_json::Value;
use tokio::sync::watch;

use super::client::{Client, state};
use super::collection;
use crate::objects::{name, revision};

/// The time without an event after which a watch is resumed on the other server.
const SILENCE: Duration = Duration::from_secs(2);

/// An informer, which records what its watches deliver.
#[derive(Debug)]
pub(super) struct Informer {
    client: Client,
    objects: BTreeMap<String, State>,
    /// The revision up to which it knows everything; `None` before the list.
    at: Option<u64>,
    /// The number of lists after the first one, because the history was said to be forgotten.
    expired: usize,
}

/// The end of a watch.
enum End {
    /// It can be resumed.
    Interrupted,
    /// Its history is forgotten.
    Expired,
}

impl Informer {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            objects: BTreeMap::new(),
            at: None,
            expired: 0,
        }
    }

    /// Watches until it knows everything up to the revision that `ended` gets. Returns the number of expired watches.
    pub(super) async fn run(mut self, ended: watch::Receiver<Option<u64>>) -> usize {
        let is_complete = |at: Option<u64>| ended.borrow().is_some_and(|last| at >= Some(last));
        while !is_complete(self.at) {
            let Some(at) = self.at else {
                self.list().await;
                continue;
            };
            // Now and then it leaves a server that serves.
            let events = self.client.random.usize(1..400);
            match self.watch(at, events, &ended).await {
                End::Interrupted => {}
                End::Expired => {
                    self.expired += 1;
                    self.at = None;
                }
            }
            if !is_complete(self.at) {
                self.client.change_server().await;
            }
        }
        self.expired
    }

    async fn list(&mut self) {
        if let Some((revision, entries)) = self.client.list().await {
            self.objects = entries.into_iter().map(|state| (state.name.clone(), state)).collect();
            self.at = Some(revision);
        }
    }

    /// Watches after `at`, for so many events at most.
    async fn watch(&mut self, at: u64, events: usize, ended: &watch::Receiver<Option<u64>>) -> End {
        let id = self.client.recorder.call(|_| Call::Watch { after: Some(at) });
        let path = format!("{}?watch=1&allowWatchBookmarks=true&resourceVersion={at}", collection());
        let opened = match self.client.connection().await {
            Some(connection) => tokio::time::timeout(SILENCE, connection.watch(&path)).await.ok(),
            None => None,
        };
        let mut watch = match opened {
            Some(Ok(watch)) => watch,
            Some(Err(error)) if error.to_string().contains("status 200, got 410") => {
                self.client.recorder.answer(id, Answer::Done);
                return End::Expired;
            }
            Some(Err(_)) | None => {
                self.client.recorder.answer(id, Answer::Done);
                return End::Interrupted;
            }
        };
        self.client.recorder.answer(id, Answer::Watching { after: at });
        for _ in 0..events {
            if ended.borrow().is_some_and(|last| self.at >= Some(last)) {
                break;
            }
            match next(&mut watch).await {
                Some(event) if event["type"] == "ERROR" => {
                    return match event["object"]["code"].as_u64() {
                        Some(410) => End::Expired,
                        _ => End::Interrupted,
                    };
                }
                Some(event) => self.take(id, &event),
                None => break,
            }
        }
        End::Interrupted
    }

    /// Records an event of the watch `id`.
    fn take(&mut self, id: u64, event: &Value) {
        let object = &event["object"];
        let progress = revision(object);
        let kind = match event["type"].as_str() {
            Some("ADDED") => Some(Kind::Created),
            Some("MODIFIED") => Some(Kind::Changed),
            Some("DELETED") => Some(Kind::Deleted),
            // A bookmark.
            _ => None,
        };
        let is_own = kind.is_some() && name(object).starts_with(&self.client.prefix);
        let change = kind.filter(|_| is_own).map(|kind| {
            let state = state(object);
            let previous = match kind {
                Kind::Deleted => self.objects.remove(&state.name),
                Kind::Created | Kind::Changed => self.objects.insert(state.name.clone(), state.clone()),
            };
            Change { kind, state, previous }
        });
        self.client.recorder.note(Record::Batch {
            watch: id,
            events: change.into_iter().collect(),
            progress,
        });
        self.at = Some(progress);
    }
}

/// The next event; `None` if the watch has ended, or is silent.
async fn next(watch: &mut Watch) -> Option<Value> {
    tokio::time::timeout(SILENCE, watch.event()).await.ok()?.ok()?
}
