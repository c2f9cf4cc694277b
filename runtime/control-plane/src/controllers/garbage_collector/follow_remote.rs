//! Keeps the graph up to date with the objects of a kind of another server.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::body::{Body, BodyDataStream};
use futures_util::StreamExt as _;
use serde_json::Value;
use tokio::sync::Notify;

use super::all_kinds::remote_id;
use super::graph::ObjectId;
use super::{Shared, lock};
use crate::controllers::metadata::Metadata;
use crate::controllers::remote_kinds::RemoteKind;
use crate::controllers::remote_objects::read_all;
use crate::loopback::LoopbackError;
use crate::resource_client::text;

/// Requests only metadata, from servers that support that.
const WATCH: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

/// The longest line of a watch, in bytes.
const LINE_LIMIT: usize = 16 << 20;

/// The duration of a watch, in seconds.
const WATCH_FOR: u64 = 600;

/// The delay before a request is repeated to a server that did not answer, or not for long; doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The duration from which on the end of a watch is no failure.
const LASTING: Duration = Duration::from_secs(30);

/// Follows the objects of one kind of another server.
#[derive(Debug)]
pub(super) struct RemoteFollower {
    kind: Arc<RemoteKind>,
    /// The UIDs of existing objects.
    known: Mutex<HashMap<ObjectId, String>>,
    /// True once the objects were requested, whatever the answer.
    has_read: AtomicBool,
    stopped: Notify,
    woken: Notify,
}

/// A reason why following ended.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error(transparent)]
    Refused(#[from] LoopbackError),
    #[error("the connection broke during the answer: {0}")]
    Cut(#[from] axum::Error),
    #[error("the answer cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    #[error("an event is longer than {LINE_LIMIT} bytes")]
    Long,
    #[error("the server sent an error: {0}")]
    Reported(String),
}

impl RemoteFollower {
    /// Follows `kind`.
    pub(super) fn new(kind: Arc<RemoteKind>) -> Self {
        Self {
            kind,
            known: Mutex::default(),
            has_read: AtomicBool::new(false),
            stopped: Notify::new(),
            woken: Notify::new(),
        }
    }

    /// Stops following: the kind is removed, or followed in another version.
    pub(super) fn stop(&self) {
        self.stopped.notify_one();
    }

    /// Retries at once: the server may be available again.
    pub(super) fn wake(&self) {
        self.woken.notify_one();
    }

    /// True if the graph may still lack objects that have existed for long.
    pub(super) fn is_starting(&self) -> bool {
        !self.has_read.load(Ordering::Acquire)
    }

    /// True if an object with this UID exists, in any namespace.
    pub(super) fn knows(&self, uid: &str) -> bool {
        lock(&self.known).values().any(|known| known == uid)
    }

    /// Keeps the graph up to date until the kind is removed.
    pub(super) async fn run(self: Arc<Self>, shared: Arc<Shared>) {
        tokio::select! {
            () = self.follow_on(&shared) => {}
            () = self.stopped.notified() => {}
        }
        self.note_read(&shared);
        shared.graph().forget(&self.kind.path);
    }

    /// Follows for ever, with a pause after each failure.
    async fn follow_on(&self, shared: &Shared) {
        let mut pause = FIRST_PAUSE;
        loop {
            let since = Instant::now();
            if let Err(error) = self.follow(shared).await {
                tracing::debug!(path = &*self.kind.path, %error, "objects of another server cannot be watched");
            }
            if since.elapsed() > LASTING {
                pause = FIRST_PAUSE;
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.woken.notified() => {}
            }
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }

    /// Reads all objects, and follows them until the watch ends.
    async fn follow(&self, shared: &Shared) -> Result<(), Broken> {
        let read = self.read_all(shared).await;
        self.note_read(shared);
        let version = read?;
        let path = format!(
            "{}?watch=1&allowWatchBookmarks=true&timeoutSeconds={WATCH_FOR}&resourceVersion={version}",
            self.kind.path
        );
        let body = shared.loopback.read(&path, WATCH).await?;
        let mut lines = Lines::from_body(body);
        while let Some(event) = lines.next().await? {
            match text(&event, "/type") {
                "ADDED" | "MODIFIED" => self.put(shared, &event["object"]),
                "DELETED" => self.remove(shared, &remote_id(&self.kind, &event["object"])),
                "ERROR" => return Err(Broken::Reported(text(&event, "/object/message").to_owned())),
                _ => {}
            }
        }
        Ok(())
    }

    fn note_read(&self, shared: &Shared) {
        self.has_read.store(true, Ordering::Release);
        shared.progress.notify_waiters();
    }

    /// Reads all objects. Returns the version to follow them from.
    async fn read_all(&self, shared: &Shared) -> Result<String, Broken> {
        let mut gone: HashMap<ObjectId, String> = lock(&self.known).clone();
        let version = read_all(&shared.loopback, &self.kind.path, |object| {
            let id = remote_id(&self.kind, object);
            // Another object of the same name is not the one that was there.
            if gone.get(&id).is_some_and(|uid| uid == text(object, "/metadata/uid")) {
                gone.remove(&id);
            }
            self.put(shared, object);
        });
        let version = version.await?;
        for (id, uid) in gone {
            self.forget(shared, &id, &uid);
        }
        Ok(version)
    }

    fn put(&self, shared: &Shared, object: &Value) {
        let metadata = Metadata::from_object(object);
        let id = remote_id(&self.kind, object);
        let attention = shared.graph().put(&id, &metadata);
        lock(&self.known).insert(id, metadata.uid);
        shared.queue.add(attention);
    }

    fn remove(&self, shared: &Shared, id: &ObjectId) {
        let known = lock(&self.known).get(id).cloned();
        if let Some(uid) = known {
            self.forget(shared, id, &uid);
        }
    }

    /// Removes an object that was deleted.
    fn forget(&self, shared: &Shared, id: &ObjectId, uid: &str) {
        let mut known = lock(&self.known);
        let is_another = known.get(id).is_some_and(|now| now != uid);
        let attention = if is_another {
            shared.graph().dependents(uid)
        } else {
            known.remove(id);
            lock(&shared.unresolved).remove(id);
            shared.graph().remove(id, uid)
        };
        drop(known);
        shared.queue.add(attention);
    }
}

/// The JSON documents of a watch, each of which is a line.
struct Lines {
    body: BodyDataStream,
    /// The bytes that were received after the last line returned.
    rest: Vec<u8>,
}

impl Lines {
    fn from_body(body: Body) -> Self {
        Self {
            body: body.into_data_stream(),
            rest: Vec::new(),
        }
    }

    /// Returns the next document; `None` at the end.
    async fn next(&mut self) -> Result<Option<Value>, Broken> {
        let mut searched = 0;
        loop {
            if let Some(end) = self.rest[searched..].iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=searched + end).collect();
                return Ok(Some(serde_json::from_slice(&line)?));
            }
            searched = self.rest.len();
            if searched > LINE_LIMIT {
                return Err(Broken::Long);
            }
            match self.body.next().await {
                Some(part) => self.rest.extend_from_slice(&part?),
                None => return Ok(None),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn lines_are_put_together_from_parts() {
        let parts = [r#"{"type":"#, "\"ADDED\"}\n{\"type\":\"DEL", "ETED\"}\n{\"cut"];
        let parts = parts.map(Ok::<_, std::io::Error>);
        let mut lines = Lines::from_body(Body::from_stream(futures_util::stream::iter(parts)));
        assert_eq!(lines.next().await.unwrap(), Some(json!({"type": "ADDED"})));
        assert_eq!(lines.next().await.unwrap(), Some(json!({"type": "DELETED"})));
        assert_eq!(lines.next().await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_line_that_is_no_json_is_an_error() {
        let mut lines = Lines::from_body(Body::from("no json\n"));
        assert!(matches!(lines.next().await, Err(Broken::Json(_))));
    }
}
