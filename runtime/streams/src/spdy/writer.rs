//! Sends frames over a connection, in order.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::connection::StreamId;
use super::frame::{self, MAX_DATA};

/// Maximum number of frames that wait to be sent; a sender of further data waits.
const MAX_WAITING: usize = 8;

/// Interval between the pings that keep a connection alive; kube-apiserver's value.
const PING_EVERY: Duration = Duration::from_secs(5);

/// Sends frames; cheap to clone. They are written while the [`Driver`] is polled.
#[derive(Clone, Debug)]
pub struct Sender(mpsc::Sender<Vec<u8>>);

/// Writes frames to the connection.
#[derive(Debug)]
pub struct Driver<W> {
    sink: W,
    waiting: mpsc::Receiver<Vec<u8>>,
}

pub(super) fn new<W>(sink: W) -> (Sender, Driver<W>) {
    let (sender, waiting) = mpsc::channel(MAX_WAITING);
    (Sender(sender), Driver { sink, waiting })
}

impl Sender {
    /// Sends data on a stream.
    ///
    /// # Errors
    ///
    /// The connection is closed.
    pub async fn data(&self, stream: StreamId, bytes: &[u8]) -> io::Result<()> {
        for piece in bytes.chunks(MAX_DATA) {
            self.frame(frame::data(stream.number(), piece, false)).await?;
        }
        Ok(())
    }

    /// Ends the client's side of a stream.
    ///
    /// # Errors
    ///
    /// The connection is closed.
    pub async fn finish(&self, stream: StreamId) -> io::Result<()> {
        self.frame(frame::data(stream.number(), &[], true)).await
    }

    /// Ends the client's side of a stream, unless too many frames wait already.
    pub fn offer_finish(&self, stream: StreamId) {
        self.offer(frame::data(stream.number(), &[], true));
    }

    pub(super) async fn frame(&self, frame: Vec<u8>) -> io::Result<()> {
        let sent = self.0.send(frame).await;
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    /// Sends a frame that the other side can do without, unless too many frames wait already: reading must not wait for
    /// writing.
    pub(super) fn offer(&self, frame: Vec<u8>) {
        let _ = self.0.try_send(frame);
    }
}

impl<W: AsyncWrite + Unpin> Driver<W> {
    /// Writes until all senders are dropped or the connection breaks.
    ///
    /// # Errors
    ///
    /// The connection breaks.
    pub async fn run(mut self) -> io::Result<()> {
        let mut pings = interval_at(Instant::now() + PING_EVERY, PING_EVERY);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut ping = 1_u32;
        loop {
            let frame = tokio::select! {
                biased;
                frame = self.waiting.recv() => frame,
                _ = pings.tick() => {
                    // Ids of a client's pings are odd.
                    let id = ping;
                    ping = ping.wrapping_add(2);
                    Some(frame::ping(id))
                }
            };
            let Some(frame) = frame else { break };
            self.sink.write_all(&frame).await?;
            self.sink.flush().await?;
        }
        self.sink.shutdown().await
    }
}
