//! Lists that are encoded a slice at a time.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_store::{Entry, Revision};

use crate::offload::{Cost, Turns};
use crate::own_task::OwnTask;

/// Minimum size of a slice in bytes, unless the list ends or its items are much larger before they are encoded.
pub(crate) const CHUNK: usize = 64 << 10;

/// Minimum size in bytes of a slice that is encoded in the polling task: larger ones would cost [`Cost::INLINE`] or more.
pub(crate) const CHEAP_CHUNK: usize = 112 << 10;

/// Encodes a list, a slice at a time.
pub(crate) trait Slices: Send {
    /// Appends the next slice, which may be empty, to `out`. True while further slices follow.
    ///
    /// # Errors
    ///
    /// An object cannot be read or encoded.
    fn fill(&mut self, out: &mut Vec<u8>) -> ApiResult<bool>;

    /// The expected cost of a slice.
    fn cost(&self) -> Cost;

    /// Bytes that are not sent yet; `None` if unknown.
    fn left(&self) -> Option<u64>;

    /// The memory that the list keeps allocated.
    fn memory(&self) -> ListMemory;
}

/// Bytes of objects and their encodings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListMemory {
    /// Bytes that only the list keeps.
    pub(crate) own: usize,
    /// Bytes that are shared with the cache, as long as the objects are not replaced.
    pub(crate) shared: usize,
}

impl ListMemory {
    /// The memory of `entries`. Unstored entries belong to their list alone.
    pub(super) fn from_entries(entries: &[Arc<Entry>]) -> Self {
        let mut memory = Self::default();
        for entry in entries {
            match entry.revision() {
                Revision(0) => memory.own += entry.size(),
                _ => memory.shared += entry.size(),
            }
        }
        memory
    }

    /// Bytes of both kinds.
    pub(super) fn all(self) -> usize {
        self.own + self.shared
    }

    /// The same without an entry that was sent.
    pub(super) fn without(self, entry: &Entry) -> Self {
        let bytes = entry.size();
        match entry.revision() {
            Revision(0) => Self {
                own: self.own.saturating_sub(bytes),
                ..self
            },
            _ => Self {
                shared: self.shared.saturating_sub(bytes),
                ..self
            },
        }
    }
}

/// The body of a list that is encoded while it is sent, one slice ahead of the client. Expensive slices are encoded
/// outside the runtime's workers, each in a task of its own: the task of a connection, which polls the bodies of many
/// answers, continues meanwhile, and a thread that becomes free for one of them is used at once.
pub(crate) struct SlicedBody {
    /// The part that was encoded before the answer began.
    first: Bytes,
    rest: Rest,
    /// Bytes that are not sent yet; `None` if unknown.
    left: Option<u64>,
    /// True if other tasks were polled since the last slice.
    has_rested: bool,
}

enum Rest {
    /// The next slice is not started.
    Idle(Box<dyn Slices>, Turns),
    /// The next slice is being encoded. Yields `None` when that panicked.
    Encoding(OwnTask<EncodedSlice>),
    Ended,
}

/// The rest of the list, the slice, and true if further slices follow.
type EncodedSlice = (Box<dyn Slices>, Turns, ApiResult<(Vec<u8>, bool)>);

type Sent = Result<Frame<Bytes>, axum::Error>;

/// An object could not be encoded after the answer had begun.
#[derive(Debug, thiserror::Error)]
#[error("the rest of the list cannot be encoded")]
struct BrokenList;

impl SlicedBody {
    /// Returns a list of which `first` is encoded, followed by `rest`. Its slices are encoded in `turns`.
    pub(crate) fn new(first: Vec<u8>, rest: Box<dyn Slices>, turns: Turns) -> Self {
        let left = rest.left().map(|left| left + first.len() as u64);
        Self {
            first: first.into(),
            rest: Rest::Idle(rest, turns),
            left,
            has_rested: false,
        }
    }

    /// Encodes the next slice, which takes little time, in the polling task. Other work of that task is polled first.
    fn poll_cheap(&mut self, mut slices: Box<dyn Slices>, turns: Turns, cx: &mut Context<'_>) -> Poll<Option<Sent>> {
        let mut out = Vec::new();
        if std::mem::take(&mut self.has_rested) {
            out.reserve_exact(CHEAP_CHUNK + CHUNK / 4);
            match slices.fill(&mut out) {
                Ok(true) if out.is_empty() => {}
                Ok(more) => return self.send_slice((slices, turns, Ok((out, more)))),
                Err(error) => return self.send_slice((slices, turns, Err(error))),
            }
        }
        self.rest = Rest::Idle(slices, turns);
        self.has_rested = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Sends a slice.
    fn send_slice(&mut self, (slices, turns, encoded): EncodedSlice) -> Poll<Option<Sent>> {
        match encoded {
            Ok((chunk, more)) => {
                if more {
                    self.rest = Rest::Idle(slices, turns);
                }
                self.send_chunk(chunk.into())
            }
            Err(error) => {
                tracing::error!(%error, "a list ends early, because an object in the store cannot be encoded");
                Poll::Ready(Some(Err(axum::Error::new(BrokenList))))
            }
        }
    }

    fn send_chunk(&mut self, chunk: Bytes) -> Poll<Option<Sent>> {
        self.left = self.left.map(|left| left.saturating_sub(chunk.len() as u64));
        Poll::Ready(Some(Ok(Frame::data(chunk))))
    }
}

/// Encodes the next slice that is not empty.
async fn next(mut slices: Box<dyn Slices>, turns: Turns) -> EncodedSlice {
    let mut out = Vec::with_capacity(CHUNK + CHUNK / 4);
    loop {
        let filled = turns.finish(slices.cost(), || slices.fill(&mut out)).await;
        match filled {
            Ok(true) if out.is_empty() => tokio::task::yield_now().await,
            Ok(more) => return (slices, turns, Ok((out, more))),
            Err(error) => return (slices, turns, Err(error)),
        }
    }
}

impl Body for SlicedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if !self.first.is_empty() {
            let first = std::mem::take(&mut self.first);
            return self.send_chunk(first);
        }
        loop {
            match std::mem::replace(&mut self.rest, Rest::Ended) {
                Rest::Idle(slices, turns) if slices.cost() < Cost::INLINE => return self.poll_cheap(slices, turns, cx),
                Rest::Idle(slices, turns) => self.rest = Rest::Encoding(OwnTask::run(next(slices, turns))),
                Rest::Ended => return Poll::Ready(None),
                Rest::Encoding(mut task) => match Pin::new(&mut task).poll(cx) {
                    Poll::Ready(Some(encoded)) => return self.send_slice(encoded),
                    Poll::Ready(None) => {
                        tracing::error!("a list ends early, because encoding it panicked; this is a bug");
                        return Poll::Ready(Some(Err(axum::Error::new(BrokenList))));
                    }
                    Poll::Pending => {
                        self.rest = Rest::Encoding(task);
                        return Poll::Pending;
                    }
                },
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_empty() && matches!(self.rest, Rest::Ended)
    }

    fn size_hint(&self) -> SizeHint {
        match self.left {
            Some(left) => SizeHint::with_exact(left),
            None => {
                let mut hint = SizeHint::new();
                hint.set_lower(self.first.len() as u64);
                hint
            }
        }
    }
}

/// The part of a list that is encoded before the answer begins: a small list is complete.
pub(crate) enum FirstSlice {
    /// The whole list.
    Whole(Vec<u8>),
    /// More than `enough` bytes of it, and the rest.
    Part(Vec<u8>, Box<dyn Slices>),
}

/// Encodes the first slices of a list until they have more than `enough` bytes, or the list ends. Slices are encoded in
/// `turns`.
///
/// # Errors
///
/// Errors of the slices, and 429 as for [`Turns::run`].
pub(crate) async fn begin(mut slices: Box<dyn Slices>, enough: usize, turns: &Turns) -> ApiResult<FirstSlice> {
    let mut out = Vec::new();
    loop {
        let more = turns.run(slices.cost(), || slices.fill(&mut out)).await??;
        match more {
            false => return Ok(FirstSlice::Whole(out)),
            true if out.len() > enough => return Ok(FirstSlice::Part(out, slices)),
            // Other tasks run between the slices.
            true => tokio::task::yield_now().await,
        }
    }
}

/// 500 for an encoding that has to succeed.
pub(crate) fn unreadable<E>(_: E) -> ApiError {
    ApiError::internal("unable to encode the stored object")
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::FutureExt as _;
    use http_body_util::BodyExt as _;
    use planesmith_access::user::UserInfo;
    use tokio::sync::Semaphore;

    use super::*;
    use crate::offload::Offload;

    /// Slices of these sizes; `None` fails.
    struct Sizes {
        sizes: VecDeque<Option<usize>>,
        cost: Cost,
        left: Arc<AtomicUsize>,
    }

    impl Slices for Sizes {
        fn fill(&mut self, out: &mut Vec<u8>) -> ApiResult<bool> {
            let next = self.sizes.pop_front();
            self.left.store(self.sizes.len(), Ordering::Relaxed);
            match next.flatten() {
                Some(size) => out.extend(vec![b'x'; size]),
                None => return Err(ApiError::internal("on purpose")),
            }
            Ok(!self.sizes.is_empty())
        }

        fn cost(&self) -> Cost {
            self.cost
        }

        fn left(&self) -> Option<u64> {
            None
        }

        fn memory(&self) -> ListMemory {
            ListMemory::default()
        }
    }

    fn slices(sizes: &[Option<usize>]) -> Box<Sizes> {
        Box::new(Sizes {
            sizes: sizes.iter().copied().collect(),
            cost: Cost::INLINE,
            left: Arc::new(AtomicUsize::new(sizes.len())),
        })
    }

    fn turns() -> Turns {
        Arc::new(Offload::new(1)).turns(&UserInfo::default())
    }

    #[tokio::test]
    async fn a_small_list_is_whole_before_its_answer_begins() {
        match begin(slices(&[Some(0), Some(5), Some(95)]), 100, &turns()).await {
            Ok(FirstSlice::Whole(whole)) => assert_eq!(whole.len(), 100),
            _ => panic!("it is small"),
        }
        let failed = begin(slices(&[Some(5), None]), 100, &turns()).await;
        assert!(failed.is_err_and(|error| error.code() == 500), "there is no answer yet");
    }

    #[tokio::test]
    async fn slices_are_sent_as_they_come() {
        let sizes = [Some(0), Some(101), Some(0), Some(7), Some(9)];
        let Ok(FirstSlice::Part(first, rest)) = begin(slices(&sizes), 100, &turns()).await else {
            panic!("it is large");
        };
        let mut body = SlicedBody::new(first, rest, turns());
        assert_eq!((body.size_hint().lower(), body.size_hint().exact()), (101, None));
        let mut chunks = Vec::new();
        while let Some(frame) = body.frame().await {
            chunks.push(frame.expect("no slice fails").into_data().expect("data").len());
        }
        assert_eq!(chunks, [101, 7, 9]);
        assert!(body.is_end_stream());
    }

    #[tokio::test]
    async fn a_thread_that_a_list_waited_for_works_before_anybody_looks_at_the_list() {
        let offload = Arc::new(Offload::new(1));
        let user = UserInfo::default();
        let free = Arc::new(Semaphore::new(0));
        // The threads for short work are occupied.
        for _ in 0..2 {
            let (turns, free) = (offload.turns(&user), Arc::clone(&free));
            tokio::spawn(async move {
                turns
                    .permit(Cost::INLINE, free.acquire())
                    .await
                    .map(|permit| permit.run(|| ()))
            });
        }
        tokio::task::yield_now().await;
        let list = slices(&[Some(7)]);
        let left = Arc::clone(&list.left);
        let mut body = SlicedBody::new(Vec::new(), list, offload.turns(&user));
        assert!(body.frame().now_or_never().is_none());
        tokio::task::yield_now().await;
        free.add_permits(2);
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(left.load(Ordering::Relaxed), 0, "the slice is encoded");
        let frame = body.frame().await.expect("a slice").expect("it does not fail");
        assert_eq!(frame.data_ref().map(Bytes::len), Some(7));
    }

    #[tokio::test]
    async fn others_have_their_turn_between_slices_that_take_little_time() {
        let list = Sizes {
            cost: Cost::default(),
            ..*slices(&[Some(7), Some(0), Some(9)])
        };
        let mut body = SlicedBody::new(Vec::new(), Box::new(list), turns());
        let mut polls = Vec::new();
        while !body.is_end_stream() {
            let sent = body
                .frame()
                .now_or_never()
                .flatten()
                .map(|frame| frame.expect("it does not fail"));
            polls.push(sent.and_then(|frame| frame.into_data().ok()).map(|bytes| bytes.len()));
        }
        assert_eq!(polls, [None, Some(7), None, None, Some(9)]);
    }

    #[tokio::test]
    async fn a_list_that_cannot_go_on_breaks_off() {
        let mut body = SlicedBody::new(vec![b'x'; 3], slices(&[Some(7), None, Some(9)]), turns());
        let mut outcomes = Vec::new();
        while let Some(frame) = body.frame().await {
            outcomes.push(frame.is_ok());
        }
        assert_eq!(outcomes, [true, true, false]);
    }
}
