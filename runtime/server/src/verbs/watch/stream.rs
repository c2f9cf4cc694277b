//! The body of a watch.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant as Moment;

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use futures_util::future::BoxFuture;
use futures_util::stream;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_store::{Entry, Event, Revision, WatchError, Watcher};
use tokio::time::{Instant, Sleep, sleep_until};

use super::bookmarks::Bookmarks;
use super::failure;
use super::frames::Frames;
use crate::metrics::WatchMetrics;
use crate::shutdown::Shutdown;

/// Bytes of initial events that make a chunk.
const CHUNK: usize = 64 << 10;

/// What a watch tells before any change.
#[derive(Debug, Default)]
pub(super) struct Initial {
    /// The objects that are there.
    pub(super) entries: VecDeque<Arc<Entry>>,
    /// Their revision, when a bookmark closes them.
    pub(super) end: Option<Revision>,
    /// How much of the collection is watched, as metrics say it.
    pub(super) scope: &'static str,
    /// When the request arrived.
    pub(super) received: Option<Moment>,
}

/// A watch under way.
pub(super) struct WatchStream {
    frames: Frames,
    watcher: Watcher,
    /// `None` when the client takes none.
    bookmarks: Option<Bookmarks>,
    deadline: Instant,
    /// Made once and polled again and again: registering a timer costs more than telling an event.
    timer: Pin<Box<Sleep>>,
    stopping: BoxFuture<'static, ()>,
    metrics: WatchMetrics,
}

/// How far a watch is.
enum Phase {
    Initial(Initial),
    Changes,
    Over,
}

/// What woke a watch.
enum Wake {
    Events(Result<Vec<Arc<Event>>, WatchError>),
    Bookmark,
    End,
}

impl WatchStream {
    pub(super) fn new(
        frames: Frames,
        watcher: Watcher,
        bookmarks: Option<Bookmarks>,
        deadline: Instant,
        mut shutdown: Shutdown,
    ) -> Self {
        let end = frames.endpoint().end();
        let stopping = async move {
            match end {
                None => shutdown.requested().await,
                Some(mut end) => tokio::select! {
                    () = shutdown.requested() => {}
                    () = end.requested() => {}
                },
            }
        };
        let mut watch = Self {
            metrics: frames.endpoint().metrics().watch(),
            frames,
            watcher,
            bookmarks,
            deadline,
            timer: Box::pin(sleep_until(deadline)),
            stopping: Box::pin(stopping),
        };
        watch.set_timer();
        watch
    }

    /// The chunks of the body. What was there at one moment is one chunk.
    pub(super) fn run(self, initial: Initial) -> impl Stream<Item = Result<Bytes, Infallible>> + Send {
        self.metrics.initial(initial.entries.len());
        let phase = Phase::Initial(initial);
        stream::unfold((self, phase), |(mut watch, phase)| async move {
            let (chunk, phase) = watch.next(phase).await?;
            Some((Ok(chunk), (watch, phase)))
        })
    }

    /// The next chunk; `None` at the end.
    async fn next(&mut self, phase: Phase) -> Option<(Bytes, Phase)> {
        match phase {
            Phase::Initial(initial) => match self.initial(initial) {
                Ok((chunk, phase)) if !chunk.is_empty() => return self.told(chunk, phase),
                Ok(_) => {}
                Err(error) => return Some((self.frames.error(&error), Phase::Over)),
            },
            Phase::Changes => {}
            Phase::Over => return None,
        }
        loop {
            let chunk = match self.wake().await {
                Wake::Events(Ok(events)) => self.events(&events),
                Wake::Events(Err(WatchError::Closed)) => return None,
                Wake::Events(Err(error)) => {
                    let error = self.too_slow(&error);
                    return Some((self.frames.error(&error), Phase::Over));
                }
                Wake::Bookmark => {
                    self.set_timer();
                    self.bookmark()
                }
                Wake::End => {
                    return match self.waiting() {
                        Ok(last) if last.is_empty() => None,
                        Ok(last) => self.told(last, Phase::Over),
                        Err(error) => Some((self.frames.error(&error), Phase::Over)),
                    };
                }
            };
            match chunk {
                Ok(chunk) if chunk.is_empty() => {}
                Ok(chunk) => return self.told(chunk, Phase::Changes),
                Err(error) => return Some((self.frames.error(&error), Phase::Over)),
            }
        }
    }

    /// A chunk with objects; the end for a client that cannot be told any.
    fn told(&self, chunk: Bytes, phase: Phase) -> Option<(Bytes, Phase)> {
        self.frames.tells_objects().then_some((chunk, phase))
    }

    async fn wake(&mut self) -> Wake {
        tokio::select! {
            // In this order, so that a stream of events cannot outlast its end.
            biased;
            () = &mut self.stopping => Wake::End,
            () = &mut self.timer => if self.timer.deadline() < self.deadline { Wake::Bookmark } else { Wake::End },
            events = self.watcher.next() => Wake::Events(events),
        }
    }

    /// Sets the timer to the next bookmark or the end, whichever comes first.
    fn set_timer(&mut self) {
        if let Some(bookmarks) = &mut self.bookmarks {
            let next = bookmarks.next(Instant::now());
            self.timer.as_mut().reset(next.unwrap_or(self.deadline));
        }
    }

    /// A chunk of initial events; empty when there is nothing left to tell.
    fn initial(&mut self, mut initial: Initial) -> ApiResult<(Bytes, Phase)> {
        let mut chunk = Vec::new();
        while chunk.len() < CHUNK
            && let Some(entry) = initial.entries.pop_front()
        {
            let before = chunk.len();
            self.frames.push_initial(&entry, &mut chunk)?;
            self.metrics.event(chunk.len() - before);
        }
        if !initial.entries.is_empty() {
            return Ok((chunk.into(), Phase::Initial(initial)));
        }
        if let Some(revision) = initial.end {
            chunk.extend_from_slice(&self.frames.bookmark(revision, true)?);
            if let Some(received) = initial.received {
                let metrics = self.frames.endpoint().metrics();
                metrics.watch_list(initial.scope, received.elapsed());
            }
        }
        Ok((chunk.into(), Phase::Changes))
    }

    fn events(&mut self, events: &[Arc<Event>]) -> Result<Bytes, ApiError> {
        let mut chunk = Chunk::default();
        for event in events {
            if let Some(frame) = self.frames.event(event)? {
                self.metrics.event(frame.len());
                chunk.push(frame);
            }
        }
        Ok(chunk.finish())
    }

    /// The changes that can be told now; empty when there are none.
    fn waiting(&mut self) -> Result<Bytes, ApiError> {
        let events = self.watcher.try_next().map_err(|error| self.too_slow(&error))?;
        self.events(&events)
    }

    /// Counts that the watch ends because its client did not keep up, and says so.
    fn too_slow(&self, error: &WatchError) -> ApiError {
        self.metrics.ended();
        failure(error, self.watcher.progress().0)
    }

    /// A bookmark at the newest revision if it tells anything, behind the changes up to there.
    fn bookmark(&mut self) -> Result<Bytes, ApiError> {
        let mut chunk = Chunk::default();
        chunk.push(self.waiting()?);
        let revision = self.watcher.progress();
        if self
            .bookmarks
            .as_ref()
            .is_some_and(|bookmarks| bookmarks.tells(revision))
        {
            chunk.push(self.frames.bookmark(revision, false)?);
        }
        Ok(chunk.finish())
    }
}

/// Frames that go out together. A single one is not copied.
#[derive(Default)]
struct Chunk {
    first: Bytes,
    all: BytesMut,
}

impl Chunk {
    fn push(&mut self, frame: Bytes) {
        if self.first.is_empty() {
            self.first = frame;
            return;
        }
        if self.all.is_empty() {
            self.all.reserve(self.first.len() + frame.len() * 2);
            self.all.extend_from_slice(&self.first);
        }
        self.all.extend_from_slice(&frame);
    }

    fn finish(self) -> Bytes {
        if self.all.is_empty() {
            self.first
        } else {
            self.all.freeze()
        }
    }
}
