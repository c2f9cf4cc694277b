//! A client of both servers, whose calls and answers are recorded.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use fastrand::Rng;
use http::Method;
use planesmith_e2e::{Connection, Endpoint};
use planesmith_torture::history::Recorder;
use planesmith_torture::payload;
use planesmith_torture::record::{Answer, Call, Precondition, Record, State};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::collection;
use crate::objects::{name, revision};

/// The time after which a client stops to wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The pause after a request that got no answer.
const PAUSE: Duration = Duration::from_millis(20);

/// Maximum bytes of an object's content.
const LARGEST: usize = 2000;

/// A client. It goes to the other server when its own does not answer.
#[derive(Debug)]
pub(super) struct Client {
    endpoints: [Endpoint; 2],
    pub(super) server: usize,
    connection: Option<Connection>,
    pub(super) recorder: Arc<Recorder>,
    /// The beginning of the names of its objects.
    pub(super) prefix: String,
    pub(super) random: Rng,
    /// The revisions of the states that it saw last.
    seen: BTreeMap<String, u64>,
}

/// The reason that there is no answer.
enum NoAnswer {
    /// The request was not sent.
    NotSent,
    /// The outcome is unknown.
    Lost(String),
}

/// The answer to a request: its status and its body.
type Answered = Result<(u16, Value), NoAnswer>;

impl Client {
    pub(super) fn new(
        endpoints: [Endpoint; 2],
        server: usize,
        recorder: &Arc<Recorder>,
        prefix: &str,
        random: Rng,
    ) -> Self {
        Self {
            endpoints,
            server,
            connection: None,
            recorder: Arc::clone(recorder),
            prefix: prefix.to_owned(),
            random,
            seen: BTreeMap::new(),
        }
    }

    /// A client of the same server with a connection of its own.
    pub(super) fn forked(&mut self) -> Self {
        let random = self.random.fork();
        Self::new(
            self.endpoints.clone(),
            self.server,
            &self.recorder,
            &self.prefix,
            random,
        )
    }

    /// Calls until `ended` has a revision.
    pub(super) async fn run(mut self, names: usize, ended: watch::Receiver<Option<u64>>) {
        while ended.borrow().is_none() {
            let name = format!("{}{}", self.prefix, self.random.usize(0..names));
            match self.random.u8(0..100) {
                0..50 => {
                    self.put(name).await;
                }
                50..62 => self.delete(name).await,
                62..90 => self.get(name).await,
                _ => {
                    self.list().await;
                }
            }
        }
    }

    /// The open connection to its server, opened if necessary.
    pub(super) async fn connection(&mut self) -> Option<Connection> {
        if self.connection.is_none() {
            let opening = Connection::open(&self.endpoints[self.server]);
            self.connection = tokio::time::timeout(TIMEOUT, opening).await.ok()?.ok();
        }
        self.connection.clone()
    }

    /// Goes to the other server.
    pub(super) async fn change_server(&mut self) {
        self.connection = None;
        self.server = 1 - self.server;
        tokio::time::sleep(PAUSE).await;
    }

    async fn request(&mut self, method: Method, path: &str, body: impl Into<Bytes>) -> Answered {
        let answered = self.send(method, path, body.into()).await;
        if answered.is_err() {
            self.change_server().await;
        }
        answered
    }

    async fn send(&mut self, method: Method, path: &str, body: Bytes) -> Answered {
        let connection = self.connection().await.ok_or(NoAnswer::NotSent)?;
        let calling = connection.call(method, path, body);
        let lost = |reason: String| NoAnswer::Lost(reason);
        let answer = tokio::time::timeout(TIMEOUT, calling).await;
        let answer = answer.map_err(|_| lost("no answer in time".to_owned()))?;
        let answer = answer.map_err(|error| lost(format!("{error:#}")))?;
        let status = answer.status.as_u16();
        match status {
            500.. => Err(lost(format!("{status}: {}", answer.excerpt()))),
            _ => Ok((status, answer.json().map_err(|error| lost(format!("{error:#}")))?)),
        }
    }

    /// Creates an object with a new name on its server; true if that was acknowledged.
    pub(super) async fn probe(mut self) -> bool {
        let name = format!("{}probe-{:x}", self.prefix, self.random.u64(..));
        self.put(name).await.is_some()
    }

    /// Writes until that succeeds; `None` after some attempts.
    pub(super) async fn write_last(&mut self) -> Option<u64> {
        for attempt in 0..100 {
            if let Some(revision) = self.put(format!("{}last-{attempt}", self.prefix)).await {
                return Some(revision);
            }
        }
        None
    }

    /// Writes an object, and returns the revision if that was acknowledged.
    async fn put(&mut self, name: String) -> Option<u64> {
        let seen = self.seen.get(&name).copied();
        let expect = match seen {
            None => Precondition::Absent,
            Some(_) if self.random.u8(0..4) == 0 => Precondition::Present,
            Some(revision) => Precondition::Revision(revision),
        };
        let length = self.random.usize(0..LARGEST);
        let id = self.recorder.call(|id| Call::Put {
            name: name.clone(),
            word: payload::name(id, length),
            expect,
            ttl: None,
        });
        let mut metadata = json!({"name": name});
        if let Precondition::Revision(revision) = expect {
            metadata["resourceVersion"] = revision.to_string().into();
        }
        let body = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": metadata,
            "data": {"value": payload::content(&payload::name(id, length))},
        });
        let (method, path) = match expect {
            Precondition::Absent => (Method::POST, collection()),
            _ => (Method::PUT, format!("{}/{name}", collection())),
        };
        let answered = self.request(method, &path, body.to_string()).await;
        let written = matches!(answered, Ok((200 | 201, _)));
        let revision = answered
            .as_ref()
            .ok()
            .filter(|_| written)
            .map(|(_, object)| revision(object));
        self.note_write(id, name, answered, revision);
        revision
    }

    async fn delete(&mut self, name: String) {
        let Some(before) = self.seen.get(&name).copied() else {
            return self.get(name).await;
        };
        let id = self.recorder.call(|_| Call::Delete {
            name: name.clone(),
            expect: Precondition::Revision(before),
        });
        let body = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"resourceVersion": before.to_string()},
        });
        let path = format!("{}/{name}", collection());
        let answered = self.request(Method::DELETE, &path, body.to_string()).await;
        // The answer does not have the revision of the deletion.
        let revision = matches!(answered, Ok((200, _))).then_some(0);
        self.note_write(id, name, answered, revision);
    }

    /// Records the answer of a write.
    fn note_write(&mut self, id: u64, name: String, answered: Answered, revision: Option<u64>) {
        let previous = None;
        match revision {
            Some(revision) if revision > 0 => self.seen.insert(name, revision),
            _ => self.seen.remove(&name),
        };
        let answer = match (answered, revision) {
            (_, Some(revision)) => Answer::Written { revision, previous },
            (Ok((status @ (404 | 409 | 429), _)), None) => Answer::Refused(status.to_string()),
            (Err(NoAnswer::NotSent), None) => Answer::Refused("not sent".to_owned()),
            (Err(NoAnswer::Lost(reason)), None) => Answer::Unknown(reason),
            (Ok((status, body)), None) => {
                let reason = format!("a write is answered with {status}: {body}");
                self.recorder.note(Record::Stuck { reason });
                Answer::Refused(status.to_string())
            }
        };
        self.recorder.answer(id, answer);
    }

    async fn get(&mut self, name: String) {
        let id = self.recorder.call(|_| Call::Get { name: name.clone() });
        let answer = match self.request(Method::GET, &format!("{}/{name}", collection()), "").await {
            Ok((200, object)) => {
                let found = state(&object);
                self.seen.insert(name, found.revision);
                Answer::Got(Some(found))
            }
            Ok((404, _)) => {
                self.seen.remove(&name);
                Answer::Got(None)
            }
            Ok(_) | Err(_) => Answer::Done,
        };
        self.recorder.answer(id, answer);
    }

    /// Reads all objects with its prefix; `None` if there is no answer.
    pub(super) async fn list(&mut self) -> Option<(u64, Vec<State>)> {
        let id = self.recorder.call(|_| Call::List {
            at: None,
            after: None,
            limit: None,
        });
        let answered = self.request(Method::GET, &collection(), "").await;
        let Ok((200, list)) = answered else {
            self.recorder.answer(id, Answer::Done);
            return None;
        };
        let items = list["items"].as_array().into_iter().flatten();
        let own = items.filter(|object| name(object).starts_with(&self.prefix));
        let entries: Vec<State> = own.map(state).collect();
        let revision = revision(&list);
        self.recorder.answer(
            id,
            Answer::Page {
                revision,
                entries: entries.clone(),
                more: false,
                remaining: None,
            },
        );
        Some((revision, entries))
    }
}

/// The state that `object` shows; its word is [`payload::DAMAGED`] if its value is not that of the write.
pub(super) fn state(object: &Value) -> State {
    let value = object["data"]["value"].as_str().unwrap_or_default();
    let word = value.split('.').next().unwrap_or_default();
    let word = if payload::content(word) == value {
        word
    } else {
        payload::DAMAGED
    };
    State {
        name: name(object).to_owned(),
        word: word.to_owned(),
        revision: revision(object),
    }
}
