//! The body of a watch.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant as Moment};

use bytes::Bytes;
use futures_core::Stream;
use futures_util::future::BoxFuture;
use futures_util::stream;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_store::{Entry, Event, Revision, WatchError, Watcher};
use tokio::time::{Instant, Sleep, sleep_until};

use super::bookmarks::Bookmarks;
use super::chunk::Chunk;
use super::failure;
use super::frames::Frames;
use super::unsent::Unsent;
use crate::in_flight::{TimedStart, WatchStart};
use crate::metrics::WatchMetrics;
use crate::offload::{Cost, Turns, block_in_place};
use crate::own_task::OwnTask;
use crate::shutdown::Shutdown;
use crate::watch_places::WatchPlace;

/// Size of a chunk of initial events, in bytes.
const INITIAL: usize = 32 << 10;

/// Bytes of objects whose events are read at once: the memory that a slow watch keeps allocated.
const READ_AHEAD: usize = 16 << 10;

/// Time during which a watch keeps its seats for a client that reads the initial events slowly.
const SEAT_TIMEOUT: Duration = Duration::from_secs(5);

/// The initial events of a watch.
#[derive(Debug, Default)]
pub(super) struct Initial {
    /// The existing objects.
    pub(super) entries: VecDeque<Arc<Entry>>,
    /// Their revision, if a bookmark closes them.
    pub(super) end: Option<Revision>,
    /// The scope of the watch, as a metrics label.
    pub(super) scope: &'static str,
    /// Time of the request's arrival.
    pub(super) received: Option<Moment>,
}

/// A running watch.
pub(super) struct WatchStream {
    frames: Arc<Frames>,
    /// Runs expensive work.
    turns: Arc<Turns>,
    watcher: Watcher,
    /// `None` when the client accepts none.
    bookmarks: Option<Bookmarks>,
    deadline: Instant,
    /// Created once and reset repeatedly: registering a timer costs more than sending an event.
    timer: Pin<Box<Sleep>>,
    stopping: BoxFuture<'static, ()>,
    metrics: WatchMetrics,
    /// Frames that are created and not sent yet.
    chunk: Chunk,
    unsent: Unsent,
    /// The place among the watches of the user.
    _place: Option<WatchPlace>,
    /// The seats until the initial events are sent; `None` without flow control.
    start: Option<TimedStart>,
}

/// The progress of a watch.
enum Phase {
    Initial(Initial),
    Changes,
    Over,
}

/// The reason that a watch was woken.
enum Wake {
    Events(Result<Vec<Arc<Event>>, WatchError>),
    Bookmark,
    End,
}

impl WatchStream {
    pub(super) fn new(
        frames: Frames,
        turns: Turns,
        watcher: Watcher,
        bookmarks: Option<Bookmarks>,
        deadline: Instant,
        shutdown: Shutdown,
    ) -> Self {
        let mut shutdown = shutdown.of_watch();
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
            frames: Arc::new(frames),
            turns: Arc::new(turns),
            watcher,
            bookmarks,
            deadline,
            timer: Box::pin(sleep_until(deadline)),
            stopping: Box::pin(stopping),
            chunk: Chunk::default(),
            unsent: Unsent::default(),
            _place: None,
            start: None,
        };
        watch.set_timer();
        watch
    }

    /// The same watch, with its place among the watches of the user.
    pub(super) fn at(mut self, place: WatchPlace) -> Self {
        self._place = Some(place);
        self
    }

    /// The chunks of the body. Few chunks are created for a client that does not read: its events stay in the history. The watch has
    /// the seats of `start` until its initial events are sent.
    pub(super) fn run(
        mut self,
        initial: Initial,
        start: Option<WatchStart>,
    ) -> impl Stream<Item = Result<Bytes, Infallible>> + Send {
        self.metrics.initial(initial.entries.len());
        match start {
            Some(start) if initial.entries.is_empty() => start.finish(),
            start => self.start = start.map(|start| start.within(SEAT_TIMEOUT)),
        }
        let phase = Phase::Initial(initial);
        stream::unfold((self, phase), |(mut watch, phase)| async move {
            let (chunk, phase) = watch.next(phase).await?;
            Some((Ok(watch.unsent.count(chunk)), (watch, phase)))
        })
    }

    /// The next chunk and phase; `None` at the end.
    async fn next(&mut self, phase: Phase) -> Option<(Bytes, Phase)> {
        let phase = match phase {
            Phase::Initial(initial) => match self.initial(initial).await {
                Some(Ok((chunk, phase))) if !chunk.is_empty() => return self.unless_unrenderable(chunk, phase),
                Some(Ok(_)) => Phase::Changes,
                Some(Err(error)) => return Some((self.frames.error(&error), Phase::Over)),
                None => return None,
            },
            phase => phase,
        };
        if let Some(chunk) = self.chunk.next(self.unsent.is_empty()) {
            return self.unless_unrenderable(chunk, phase);
        }
        if matches!(phase, Phase::Over) {
            return None;
        }
        loop {
            let wake = self.wake().await;
            let (made, phase) = match wake {
                Wake::Events(Ok(events)) => (self.events(&events).await, Phase::Changes),
                Wake::Events(Err(WatchError::Closed)) => return None,
                Wake::Events(Err(error)) => (Err(self.too_slow(&error)), Phase::Over),
                Wake::Bookmark => {
                    self.set_timer();
                    (self.bookmark().await, Phase::Changes)
                }
                Wake::End => (self.waiting().await, Phase::Over),
            };
            let phase = match made {
                Ok(()) => phase,
                Err(error) => {
                    let refusal = self.frames.error(&error);
                    if self.chunk.is_empty() {
                        return Some((refusal, Phase::Over));
                    }
                    self.chunk.push(refusal);
                    Phase::Over
                }
            };
            match self.chunk.next(self.unsent.is_empty()) {
                Some(chunk) => return self.unless_unrenderable(chunk, phase),
                None if matches!(phase, Phase::Over) => return None,
                None => {}
            }
        }
    }

    /// A chunk with objects; the end for a client that requested a form in which objects cannot be rendered.
    fn unless_unrenderable(&self, chunk: Bytes, phase: Phase) -> Option<(Bytes, Phase)> {
        self.frames.tells_objects().then_some((chunk, phase))
    }

    async fn wake(&mut self) -> Wake {
        let events = async {
            self.unsent.writable().await;
            self.watcher.next_within(READ_AHEAD).await
        };
        tokio::select! {
            // In this order, so that a stream of events cannot outlast the end of the watch.
            biased;
            () = &mut self.stopping => Wake::End,
            () = &mut self.timer => if self.timer.deadline() < self.deadline { Wake::Bookmark } else { Wake::End },
            events = events => Wake::Events(events),
        }
    }

    /// Sets the timer to the next bookmark or the end, whichever comes first.
    fn set_timer(&mut self) {
        if let Some(bookmarks) = &mut self.bookmarks {
            let next = bookmarks.next(Instant::now());
            self.timer.as_mut().reset(next.unwrap_or(self.deadline));
        }
    }

    /// A chunk of initial events, empty when none are left; `None` when the watch ends before the client reads it.
    async fn initial(&mut self, initial: Initial) -> Option<ApiResult<(Bytes, Phase)>> {
        tokio::select! {
            biased;
            () = self.unsent.writable() => {}
            () = &mut self.stopping => return None,
            () = sleep_until(self.deadline) => return None,
        }
        Some(self.initial_chunk(initial).await)
    }

    async fn initial_chunk(&mut self, mut initial: Initial) -> ApiResult<(Bytes, Phase)> {
        let mut chunk = Vec::new();
        while chunk.len() < INITIAL
            && let Some(entry) = initial.entries.pop_front()
        {
            let before = chunk.len();
            let cost = self.frames.cost(&entry);
            match cost < Cost::INLINE {
                true => self.frames.push_selected(&entry, &mut chunk)?,
                false => {
                    let made = self.in_own_task(cost, move |frames| {
                        let mut frame = Vec::new();
                        frames.push_selected(&entry, &mut frame).map(|()| frame)
                    });
                    chunk.append(&mut made.await?);
                }
            }
            if chunk.len() > before {
                self.metrics.event(chunk.len() - before);
            }
        }
        if !initial.entries.is_empty() {
            return Ok((chunk.into(), Phase::Initial(initial)));
        }
        // No more than the changes of others is to be sent.
        self.start = None;
        if let Some(revision) = initial.end {
            chunk.extend_from_slice(&self.frames.bookmark(revision, true)?);
            if let Some(received) = initial.received {
                let metrics = self.frames.endpoint().metrics();
                metrics.watch_list(initial.scope, received.elapsed());
            }
        }
        Ok((chunk.into(), Phase::Changes))
    }

    /// Creates the frames of `events`.
    async fn events(&mut self, events: &[Arc<Event>]) -> ApiResult<()> {
        for event in events {
            let cost = self.frames.cost_of(event);
            let frame = match cost < Cost::INLINE {
                true => self.frames.event(event)?,
                false => {
                    let event = Arc::clone(event);
                    self.in_own_task(cost, move |frames| frames.event(&event)).await?
                }
            };
            if let Some(frame) = frame {
                self.metrics.event(frame.len());
                self.chunk.push(frame);
            }
        }
        Ok(())
    }

    /// Creates expensive frames in a task of its own: the connection continues meanwhile.
    async fn in_own_task<T: Send + 'static>(
        &mut self,
        cost: Cost,
        make: impl FnOnce(&Frames) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let frames = Arc::clone(&self.frames);
        if frames.endpoint().has_converter() {
            // This is a task of its own already, and a turn must not wait for another party.
            return block_in_place(|| make(&frames));
        }
        let turns = Arc::clone(&self.turns);
        let made = OwnTask::run(async move { turns.finish(cost, || make(&frames)).await });
        made.await
            .unwrap_or_else(|| Err(ApiError::internal("unable to encode the stored object")))
    }

    /// Creates the frames of changes that can be sent now; none for a client that does not read.
    async fn waiting(&mut self) -> ApiResult<()> {
        if !self.unsent.has_room() {
            return Ok(());
        }
        let events = self.watcher.available_within(READ_AHEAD).await;
        let events = events.map_err(|error| self.too_slow(&error))?;
        self.events(&events).await
    }

    /// Counts a watch that ends because its client did not keep up, and returns its error.
    fn too_slow(&self, error: &WatchError) -> ApiError {
        self.metrics.ended();
        failure(error, self.watcher.progress().0)
    }

    /// Creates the frame of a bookmark if it is new to the client, after the changes up to its revision.
    async fn bookmark(&mut self) -> ApiResult<()> {
        self.waiting().await?;
        let revision = self.watcher.progress();
        let bookmarks = self.bookmarks.as_ref();
        if self.unsent.has_room() && bookmarks.is_some_and(|bookmarks| bookmarks.is_new(revision)) {
            let bookmark = self.frames.bookmark(revision, false)?;
            self.chunk.push(bookmark);
        }
        Ok(())
    }
}
