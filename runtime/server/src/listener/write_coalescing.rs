//! Write coalescing: the output of a connection at one moment is written in one piece.
//!
//! An HTTP/2 connection writes and flushes each frame by itself. With many streams, such as watches of one collection,
//! that is a TLS record and a system call per event and stream, which cost more than everything else together. Here a
//! flush takes effect only after the connection's task was polled to its end, and a task with several running answers
//! yields to the tasks that produce them first.
//!
//! A connection that sends much does so in turns with the others, see [`super::bulk_turns`].

use std::future::{Future, poll_fn};
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::OwnedSemaphorePermit;

use super::activity::Activity;
use super::bulk_turns::{BulkSender, TURN};
use super::exchanges::Exchanges;

/// Maximum bytes in the buffer: eight TLS records of the largest size. While the client does not read, they wait in
/// TLS, and no more bytes are accepted.
pub(super) const BUFFER: usize = 128 << 10;

/// Usual maximum of the bytes that a connection writes at once.
const LITTLE: usize = 4 << 10;

/// The side that the connection writes to: reads pass through, writes are buffered.
#[derive(Debug)]
pub(super) struct CoalescedIo<IO> {
    shared: Arc<Mutex<Shared<IO>>>,
    /// Keeps the connection counted while either owner uses it, also after an upgrade to another protocol.
    _place: Option<OwnedSemaphorePermit>,
}

/// The side of the task that polls the connection.
#[derive(Debug)]
pub(super) struct Flusher<IO> {
    shared: Arc<Mutex<Shared<IO>>>,
}

/// Rarely contended: both sides belong to one task until the connection is upgraded.
#[derive(Debug)]
struct Shared<IO> {
    io: IO,
    buffered: Vec<u8>,
    /// Number of bytes of `buffered` that are written.
    written: usize,
    /// Number of bytes that the connection has handed over in its present turn.
    sent: usize,
    /// True while written bytes wait in TLS, because the socket accepts none.
    unflushed: bool,
    /// True once the flusher is dropped, so that flushes take effect at once.
    open: bool,
    /// Receives notice of the bytes that are written.
    activity: Arc<Activity>,
}

/// Splits `io` into the side that the connection writes to, which keeps its `place` among the connections, and the side
/// that flushes it. `activity` is notified when the written bytes have been sent.
pub(super) fn coalesce<IO>(
    io: IO,
    place: Option<OwnedSemaphorePermit>,
    activity: Arc<Activity>,
) -> (CoalescedIo<IO>, Flusher<IO>) {
    let shared = Arc::new(Mutex::new(Shared {
        io,
        buffered: Vec::new(),
        written: 0,
        sent: 0,
        unflushed: false,
        open: false,
        activity,
    }));
    let coalesced = CoalescedIo {
        shared: Arc::clone(&shared),
        _place: place,
    };
    (coalesced, Flusher { shared })
}

impl<IO: AsyncWrite + Unpin> Flusher<IO> {
    /// Runs a connection over the other side, and polls its exchanges before and after it. While `crowded`, the
    /// connection is polled after the tasks that are ready now. It sends in the turns of `sender`. Its last
    /// bytes are sent when this returns: the owner of an upgraded connection may wait for an answer to them.
    pub(super) async fn run<T, E: From<io::Error>>(
        self,
        connection: impl Future<Output = Result<T, E>>,
        mut exchanges: Exchanges,
        mut sender: BulkSender,
        crowded: impl Fn() -> bool,
    ) -> Result<T, E> {
        let mut connection = pin!(connection);
        let mut waited = false;
        let mut outcome = None;
        poll_fn(|cx| {
            if outcome.is_some() {
                return self.poll_end(cx, &mut outcome);
            }
            ready!(sender.poll_turn(cx));
            if !waited && !sender.has_turn() && crowded() {
                waited = true;
                // Once polled, it makes the runtime poll this task again after the others.
                if pin!(tokio::task::yield_now()).poll(cx).is_pending() {
                    return Poll::Pending;
                }
            }
            waited = false;
            lock(&self.shared).sent = 0;
            exchanges.poll(cx);
            let said = connection.as_mut().poll(cx);
            exchanges.poll(cx);
            if let Poll::Ready(result) = said {
                sender.end_turn(false, cx);
                outcome = Some(result);
                return self.poll_end(cx, &mut outcome);
            }
            let mut shared = lock(&self.shared);
            sender.end_turn(shared.sent >= TURN, cx);
            match shared.poll_write_out(cx) {
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error.into())),
                // Most connections have nothing to write most of the time, and need no buffer then.
                Poll::Ready(Ok(())) => shared.buffered = Vec::new(),
                Poll::Pending => {}
            }
            Poll::Pending
        })
        .await
    }

    /// The outcome, once the buffer is sent. Nothing is sent over a broken connection.
    fn poll_end<T, E: From<io::Error>>(
        &self,
        cx: &mut Context<'_>,
        outcome: &mut Option<Result<T, E>>,
    ) -> Poll<Result<T, E>> {
        let mut shared = lock(&self.shared);
        shared.open = true;
        if let Some(Ok(_)) = outcome {
            ready!(shared.poll_write_out(cx))?;
        }
        outcome.take().map_or(Poll::Pending, Poll::Ready)
    }
}

fn lock<IO>(shared: &Mutex<Shared<IO>>) -> MutexGuard<'_, Shared<IO>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<IO: AsyncWrite + Unpin> Shared<IO> {
    /// Writes and flushes the buffer, after the bytes that wait in TLS: TLS would buffer as much again while the socket
    /// accepts nothing.
    fn poll_write_out(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_write_below(cx))?;
        self.activity.written();
        Poll::Ready(Ok(()))
    }

    fn poll_write_below(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_flush_below(cx))?;
        if self.buffered.is_empty() {
            return Poll::Ready(Ok(()));
        }
        self.unflushed = true;
        while self.written < self.buffered.len() {
            let rest = &self.buffered[self.written..];
            match ready!(Pin::new(&mut self.io).poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.written += count,
            }
        }
        self.buffered.clear();
        self.written = 0;
        let flushed = self.poll_flush_below(cx);
        if flushed.is_pending() {
            // An empty buffer needs no memory while the client does not read.
            self.buffered = Vec::new();
        }
        flushed
    }

    fn poll_flush_below(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.unflushed {
            ready!(Pin::new(&mut self.io).poll_flush(cx))?;
            self.unflushed = false;
        }
        Poll::Ready(Ok(()))
    }

    /// Buffers as much of `pieces` as there is space for. Nothing more is accepted when the turn has ended; the flusher then
    /// wakes the connection at its next one.
    fn poll_hold<'a>(
        &mut self,
        cx: &mut Context<'_>,
        pieces: impl Iterator<Item = &'a [u8]>,
    ) -> Poll<io::Result<usize>> {
        if self.sent >= TURN && !self.open {
            return Poll::Pending;
        }
        if self.buffered.len() >= BUFFER || self.unflushed {
            ready!(self.poll_write_out(cx))?;
        }
        let before = self.buffered.len();
        for piece in pieces {
            let room = BUFFER - self.buffered.len();
            if before + piece.len() > LITTLE {
                // More will follow: growing in small steps would copy the bytes again and again.
                self.buffered.reserve_exact(room);
            }
            self.buffered.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.len() >= room {
                break;
            }
        }
        let count = self.buffered.len() - before;
        self.sent += count;
        Poll::Ready(Ok(count))
    }
}

impl<IO: AsyncRead + Unpin> AsyncRead for CoalescedIo<IO> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut lock(&self.shared).io).poll_read(cx, buffer)
    }
}

impl<IO: AsyncWrite + Unpin> AsyncWrite for CoalescedIo<IO> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        lock(&self.shared).poll_hold(cx, std::iter::once(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut shared = lock(&self.shared);
        shared.poll_hold(cx, slices.iter().map(|slice| &**slice))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut shared = lock(&self.shared);
        // HTTP/1 flushes when it has nothing left to write.
        shared.activity.handed_out();
        if shared.open {
            return shared.poll_write_out(cx);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut shared = lock(&self.shared);
        ready!(shared.poll_write_out(cx))?;
        Pin::new(&mut shared.io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

    use super::super::bulk_turns::BulkTurns;
    use super::*;

    /// Counts the writes that reach a pipe.
    struct Counted(DuplexStream, Arc<AtomicUsize>);

    impl AsyncWrite for Counted {
        fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            self.1.fetch_add(1, Ordering::Relaxed);
            Pin::new(&mut self.0).poll_write(cx, bytes)
        }

        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_flush(cx)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_shutdown(cx)
        }
    }

    /// The turns of a connection without others.
    fn alone() -> BulkSender {
        BulkTurns::new(1).sender()
    }

    fn unused() -> Arc<Activity> {
        Arc::new(Activity::new())
    }

    #[tokio::test]
    async fn an_answer_of_http_1_is_sent_when_its_last_byte_is_written() {
        let (near, mut far) = duplex(10);
        let activity = unused();
        let (mut inside, flusher) = coalesce(near, None, Arc::clone(&activity));
        let [first, second] = [1, 2].map(|hours| Instant::now() + Duration::from_secs(3600 * hours));
        let connection = async {
            for due in [first, second] {
                let mut running = activity.begin();
                running.send_in_order(Some(due));
                inside.write_all(&[b'x'; 50]).await?;
                // As HTTP/1 does: the body ends, and then its last bytes are passed on.
                drop(running);
                inside.flush().await?;
            }
            std::future::pending::<io::Result<()>>().await
        };
        let mut run = pin!(flusher.run(connection, Exchanges::default(), alone(), || false));
        // Ten further bytes are in the pipe by then, and as many are not written.
        let mut read = [0; 80];
        tokio::select! {
            biased;
            ended = &mut run => panic!("it goes on: {ended:?}"),
            read = far.read_exact(&mut read) => drop(read.expect("pipes do not fail")),
        }
        assert!(activity.quiet().is_none(), "some are left");
        assert_eq!(activity.due(), Some(first), "whatever was asked for later");
        let mut last = [0; 20];
        tokio::select! {
            biased;
            ended = &mut run => panic!("it goes on: {ended:?}"),
            read = far.read_exact(&mut last) => drop(read.expect("pipes do not fail")),
        }
        assert!(poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx).is_pending())).await);
        assert!(activity.quiet().is_some());
        assert_eq!(activity.due(), None);
    }

    #[tokio::test]
    async fn frames_of_one_moment_are_one_write() {
        let (near, mut far) = duplex(1 << 20);
        let writes = Arc::new(AtomicUsize::new(0));
        let (mut inside, flusher) = coalesce(Counted(near, Arc::clone(&writes)), None, unused());
        let connection = async {
            for _ in 0..50 {
                inside.write_all(b"frame").await?;
                inside.flush().await?;
            }
            tokio::task::yield_now().await;
            io::Result::Ok(inside)
        };
        let mut inside = flusher
            .run(connection, Exchanges::default(), alone(), || true)
            .await
            .expect("pipes do not fail");
        assert_eq!(writes.load(Ordering::Relaxed), 1);
        // An upgraded connection has no flusher.
        inside.write_all(b"last").await.expect("pipes do not fail");
        inside.flush().await.expect("pipes do not fail");
        assert_eq!(writes.load(Ordering::Relaxed), 2);
        drop(inside);
        let mut seen = String::new();
        far.read_to_string(&mut seen).await.expect("pipes do not fail");
        assert_eq!(seen, "frame".repeat(50) + "last");
    }

    #[tokio::test]
    async fn last_words_leave_before_the_connection_is_taken_over() {
        let (near, mut far) = duplex(3);
        let (mut inside, flusher) = coalesce(near, None, unused());
        let connection = async {
            inside.write_all(b"switching").await?;
            inside.flush().await?;
            io::Result::Ok(inside)
        };
        let mut seen = [0; 9];
        let (taken, read) = tokio::join!(
            flusher.run(connection, Exchanges::default(), alone(), || false),
            far.read_exact(&mut seen)
        );
        taken.expect("pipes do not fail");
        read.expect("pipes do not fail");
        assert_eq!(&seen, b"switching");
    }

    /// Accepts all bytes, and passes them on at the second flush, as TLS does over a full socket.
    struct Hesitant(DuplexStream, Vec<u8>, bool);

    impl AsyncWrite for Hesitant {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            self.1.extend_from_slice(bytes);
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            if std::mem::replace(&mut self.2, false) {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let bytes = std::mem::take(&mut self.1);
            let written = ready!(Pin::new(&mut self.0).poll_write(cx, &bytes))?;
            assert_eq!(written, bytes.len(), "the pipe is large");
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_shutdown(cx)
        }
    }

    #[tokio::test]
    async fn bytes_pending_in_the_stream_are_flushed_later() {
        let (near, mut far) = duplex(1 << 10);
        let (mut inside, flusher) = coalesce(Hesitant(near, Vec::new(), true), None, unused());
        let connection = async {
            inside.write_all(b"answer").await?;
            inside.flush().await?;
            std::future::pending::<io::Result<()>>().await
        };
        let mut seen = [0; 6];
        tokio::select! {
            ended = flusher.run(connection, Exchanges::default(), alone(), || false) => panic!("it goes on: {ended:?}"),
            read = far.read_exact(&mut seen) => drop(read.expect("pipes do not fail")),
        }
        assert_eq!(&seen, b"answer");
    }

    /// Accepts all bytes, and never passes them on, like TLS over a socket whose peer does not read.
    struct Blocked(DuplexStream, Arc<AtomicUsize>);

    impl AsyncWrite for Blocked {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            self.1.fetch_add(bytes.len(), Ordering::Relaxed);
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_shutdown(cx)
        }
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_is_told_once() {
        for (piece, at_most) in [(4 << 10, 4 << 10), (BUFFER / 4, BUFFER)] {
            let below = Arc::new(AtomicUsize::new(0));
            let (mut inside, flusher) = coalesce(Blocked(duplex(1).0, Arc::clone(&below)), None, unused());
            let taken = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&taken);
            let connection = async move {
                loop {
                    count.fetch_add(inside.write(&vec![b'x'; piece]).await?, Ordering::Relaxed);
                    if piece < BUFFER / 4 {
                        // Later writes find that the first piece is still unsent.
                        tokio::task::yield_now().await;
                    }
                }
            };
            let mut run = pin!(flusher.run(connection, Exchanges::default(), alone(), || false));
            for _ in 0..100 {
                let ended: Poll<io::Result<()>> = poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx))).await;
                assert!(ended.is_pending());
            }
            assert_eq!(taken.load(Ordering::Relaxed), at_most);
            assert_eq!(below.load(Ordering::Relaxed), at_most);
        }
    }

    #[tokio::test]
    async fn a_slow_reader_gets_everything() {
        let (near, mut far) = duplex(100);
        let (mut inside, flusher) = coalesce(near, None, unused());
        let sent: Vec<u8> = (0..BUFFER * 3).map(|position| (position % 251) as u8).collect();
        let connection = async {
            for (number, piece) in sent.chunks(5000).enumerate() {
                match number % 2 {
                    0 => inside.write_all(piece).await?,
                    _ => {
                        let mut slices = piece;
                        while !slices.is_empty() {
                            let (first, second) = slices.split_at(slices.len() / 2);
                            let pair = [IoSlice::new(first), IoSlice::new(second)];
                            let count = inside.write_vectored(&pair).await?;
                            slices = &slices[count..];
                        }
                    }
                }
                inside.flush().await?;
            }
            inside.shutdown().await
        };
        let reading = async {
            let mut seen = Vec::new();
            far.read_to_end(&mut seen).await.map(|_| seen)
        };
        let (done, seen) = tokio::join!(
            flusher.run(connection, Exchanges::default(), alone(), || false),
            reading
        );
        done.expect("pipes do not fail");
        assert!(seen.expect("pipes do not fail") == sent);
    }

    #[tokio::test]
    async fn connections_that_send_without_end_take_turns() {
        let turns = BulkTurns::new(1);
        let taken: [Arc<AtomicUsize>; 2] = Default::default();
        let connections = taken.clone().map(|taken| {
            let (near, mut far) = duplex(TURN * 8);
            let (mut inside, flusher) = coalesce(near, None, unused());
            let sending = async move {
                loop {
                    taken.fetch_add(inside.write(&[b'x'; 1000]).await?, Ordering::Relaxed);
                }
            };
            let run = flusher.run(sending, Exchanges::default(), turns.sender(), || false);
            let mut run: Pin<Box<dyn Future<Output = io::Result<()>>>> = Box::pin(run);
            move |cx: &mut Context<'_>| {
                assert!(run.as_mut().poll(cx).is_pending(), "it goes on");
                let mut read = vec![0; TURN * 2];
                let mut buffer = ReadBuf::new(&mut read);
                let _ = Pin::new(&mut far).poll_read(cx, &mut buffer);
            }
        });
        let counts = || taken.each_ref().map(|taken| taken.load(Ordering::Relaxed));
        let [mut one, mut other] = connections;
        poll_fn(|cx| {
            // Both begin without a turn; then the first one does not wait.
            one(cx);
            other(cx);
            let [first, second] = counts();
            assert!((TURN..TURN + 1000).contains(&first), "{first}");
            assert_eq!(second, first);
            // The first one has the turn, and the other one waits for it however often it is polled.
            other(cx);
            assert_eq!(counts(), [first, first]);
            one(cx);
            assert!(counts()[0] > first, "its turn");
            let sent = counts()[0];
            one(cx);
            assert_eq!(counts(), [sent, first], "the other one's turn");
            other(cx);
            assert!(counts()[1] > first, "its turn");
            Poll::Ready(())
        })
        .await;
    }
}
