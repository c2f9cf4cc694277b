//! The end of idle connections.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// A connection that fails with [`io::ErrorKind::TimedOut`] once no byte was read or written for a time. Both
/// directions belong to one task.
#[derive(Debug)]
pub(super) struct IdleTimeout<IO> {
    io: IO,
    limit: Duration,
    last_use: Instant,
    timer: Pin<Box<Sleep>>,
}

impl<IO> IdleTimeout<IO> {
    pub(super) fn new(io: IO, limit: Duration) -> Self {
        let last_use = Instant::now();
        Self {
            io,
            limit,
            last_use,
            timer: Box::pin(sleep_until(last_use + limit)),
        }
    }

    /// Returns the result of an operation; a pending one fails at the deadline.
    fn watch<T>(&mut self, cx: &mut Context<'_>, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.last_use = Instant::now();
            return result;
        }
        loop {
            ready!(self.timer.as_mut().poll(cx));
            let deadline = self.last_use + self.limit;
            if Instant::now() >= deadline {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            self.timer.as_mut().reset(deadline);
        }
    }
}

impl<IO: AsyncRead + Unpin> AsyncRead for IdleTimeout<IO> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.io).poll_read(cx, buffer);
        self.watch(cx, read)
    }
}

impl<IO: AsyncWrite + Unpin> AsyncWrite for IdleTimeout<IO> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.watch(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn a_connection_fails_when_neither_side_says_anything() {
        let (mut client, server) = tokio::io::duplex(1);
        let mut server = IdleTimeout::new(server, Duration::ZERO);
        client.write_u8(1).await.unwrap();
        assert_eq!(server.read_u8().await.unwrap(), 1);
        assert_eq!(server.read_u8().await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        // A client that does not read counts as idle, like one that does not write.
        server.write_u8(2).await.unwrap();
        assert_eq!(server.write_u8(3).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn each_byte_starts_the_time_anew() {
        let (mut client, server) = tokio::io::duplex(1);
        let mut server = IdleTimeout::new(server, Duration::from_secs(3600));
        // As if the time had started long ago.
        server.timer.as_mut().reset(Instant::now());
        tokio::time::sleep_until(server.timer.deadline()).await;
        client.write_u8(1).await.unwrap();
        assert_eq!(server.read_u8().await.unwrap(), 1);
        assert!(server.read_u8().now_or_never().is_none());
        assert!(server.timer.deadline() > Instant::now());
    }
}
