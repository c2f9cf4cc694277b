//! One command: channels of the client on one side, streams of the kubelet on the other.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Sink, SinkExt as _, Stream, StreamExt as _};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::StreamFlags;
use super::kubelet::Version;
use super::outcome::Outcome;
use crate::channels;
use crate::spdy::{Connection, Event, Sender, SpdyError, StreamId};

/// Time a client has to read the remaining output and close the connection, once its command has ended; kube-apiserver's
/// value.
const FINISH_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// Time that remaining data has to reach the kubelet, once the command has ended.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum size of a client's message about the size of its terminal, in bytes; a usual one has some thirty.
const MAX_RESIZE: usize = 1 << 10;

/// Maximum bytes on a kubelet's error stream.
const MAX_ERROR: usize = 1 << 20;

const STDIN: u8 = 0;
const STDOUT: u8 = 1;
const STDERR: u8 = 2;
const ERROR: u8 = 3;
const RESIZE: u8 = 4;
/// Closes the channel that the next byte names.
const CLOSE: u8 = 255;

/// The size of a terminal, in characters.
#[derive(Deserialize, Serialize)]
struct TerminalSize {
    #[serde(rename = "Width", alias = "width", default)]
    width: u16,
    #[serde(rename = "Height", alias = "height", default)]
    height: u16,
}

/// The streams of a kubelet.
struct Streams {
    error: StreamId,
    stdin: Option<StreamId>,
    stdout: Option<StreamId>,
    stderr: Option<StreamId>,
    resize: Option<StreamId>,
    /// True while the client's side of stdin is open.
    is_stdin_open: AtomicBool,
}

/// Serves a client over its upgraded connection, until its command has ended or it disconnects. `kubelet` opens the
/// other side.
pub(super) async fn run<C, K>(
    client: C,
    flags: StreamFlags,
    kubelet: impl Future<Output = Result<(K, Version), String>>,
) where
    C: AsyncRead + AsyncWrite + Unpin,
    K: AsyncRead + AsyncWrite,
{
    let mut client = WebSocketStream::from_raw_socket(client, Role::Server, Some(channels::config())).await;
    // Reports to the client that the connection is established.
    let first = match (flags.stdout, flags.stderr) {
        (true, _) => STDOUT,
        (false, true) => STDERR,
        (false, false) => ERROR,
    };
    if client.send(message(first, &[])).await.is_err() {
        return;
    }
    let outcome = match kubelet.await {
        Ok((kubelet, version)) => exchange(&mut client, flags, kubelet, version).await,
        Err(why) => Some(Outcome::Internal(why)),
    };
    let finished = tokio::time::timeout(FINISH_TIMEOUT, finish(&mut client, outcome)).await;
    if !matches!(finished, Ok(Ok(()))) {
        tracing::debug!("a client of a command did not close its connection");
    }
}

/// Reports the outcome of a command to its client, and waits until the client has closed the connection; data that it
/// sends meanwhile is dropped. Closing the connection at once could lose data that is still in transit to the client.
async fn finish<C>(client: &mut WebSocketStream<C>, outcome: Option<Outcome>) -> Result<(), Error>
where
    C: AsyncRead + AsyncWrite + Unpin,
{
    if let Some(outcome) = outcome {
        client.send(message(ERROR, &outcome.to_json())).await?;
        let end = CloseFrame {
            code: CloseCode::Normal,
            reason: "".into(),
        };
        client.close(Some(end)).await?;
    }
    while client.next().await.transpose()?.is_some() {}
    Ok(())
}

/// Relays data in both directions; `None` when the client disconnects before the command ends.
async fn exchange<C, K>(
    client: &mut WebSocketStream<C>,
    flags: StreamFlags,
    kubelet: K,
    version: Version,
) -> Option<Outcome>
where
    C: AsyncRead + AsyncWrite + Unpin,
    K: AsyncRead + AsyncWrite,
{
    let (connection, driver) = match Connection::new(kubelet) {
        Ok(both) => both,
        Err(error) => return Some(Outcome::Internal(error.to_string())),
    };
    let mut driver = pin!(driver.run());
    let mut work = pin!(converse(client, flags, connection, version));
    tokio::select! {
        outcome = &mut work => {
            // The senders were dropped with the work, so the driver ends after their last data.
            let _ = tokio::time::timeout(DRAIN_TIMEOUT, driver).await;
            outcome
        }
        // Data that a broken connection has delivered is still read.
        _ = &mut driver => work.await,
    }
}

async fn converse<C, K>(
    client: &mut WebSocketStream<C>,
    flags: StreamFlags,
    mut connection: Connection<K>,
    version: Version,
) -> Option<Outcome>
where
    C: AsyncRead + AsyncWrite + Unpin,
    K: AsyncRead + AsyncWrite,
{
    let sender = connection.sender();
    let streams = match Streams::open(&mut connection, flags, version).await {
        Ok(streams) => streams,
        Err(error) => return Some(Outcome::Internal(error.to_string())),
    };
    let (sink, source) = client.split();
    tokio::select! {
        outcome = output(&mut connection, sink, &streams, version) => outcome,
        () = input(source, &sender, &streams) => None,
    }
}

impl Streams {
    async fn open<K>(connection: &mut Connection<K>, flags: StreamFlags, version: Version) -> Result<Self, SpdyError>
    where
        K: AsyncRead + AsyncWrite,
    {
        let mut open = async |is_wanted: bool, kind: &str| match is_wanted {
            true => connection.open(&[("streamtype", kind)]).await.map(Some),
            false => Ok(None),
        };
        let error = open(true, "error").await?.ok_or(SpdyError::Refused)?;
        Ok(Self {
            error,
            stdin: open(flags.stdin, "stdin").await?,
            stdout: open(flags.stdout, "stdout").await?,
            // A terminal displays both.
            stderr: open(flags.stderr && !flags.tty, "stderr").await?,
            resize: open(flags.tty && version >= Version::Resize, "resize").await?,
            is_stdin_open: AtomicBool::new(flags.stdin),
        })
    }

    fn channel(&self, stream: StreamId) -> Option<u8> {
        let channels = [(self.stdout, STDOUT), (self.stderr, STDERR)];
        let found = channels.into_iter().find(|(known, _)| *known == Some(stream));
        found.map(|(_, channel)| channel)
    }

    /// Streams that have to end before the command counts as ended.
    fn awaited(&self) -> Vec<StreamId> {
        let output = [self.stdout, self.stderr].into_iter().flatten();
        output.chain([self.error]).collect()
    }

    /// The stdin stream, at the first time that it ends.
    fn end_of_stdin(&self) -> Option<StreamId> {
        let was_open = self.is_stdin_open.swap(false, Ordering::Relaxed);
        self.stdin.filter(|_| was_open)
    }
}

/// Relays the kubelet's output, as fast as the client reads; `None` when the client has disconnected.
async fn output<K>(
    connection: &mut Connection<K>,
    mut sink: impl Sink<Message, Error = Error> + Unpin,
    streams: &Streams,
    version: Version,
) -> Option<Outcome>
where
    K: AsyncRead + AsyncWrite,
{
    let mut awaited = streams.awaited();
    let mut error = Vec::new();
    while !awaited.is_empty() {
        // Events that a broken connection has delivered before count.
        let Ok(Some(event)) = connection.next().await else {
            break;
        };
        match event {
            Event::Data(stream, bytes) if stream == streams.error => {
                if error.len() + bytes.len() > MAX_ERROR {
                    return Some(Outcome::Internal("the kubelet's error is too long".to_owned()));
                }
                error.extend_from_slice(&bytes);
            }
            Event::Data(stream, bytes) => {
                if let Some(channel) = streams.channel(stream) {
                    sink.send(message(channel, &bytes)).await.ok()?;
                }
            }
            Event::End(stream) | Event::Reset(stream) => {
                awaited.retain(|awaited| *awaited != stream);
                if Some(stream) == streams.stdin
                    && let Some(stdin) = streams.end_of_stdin()
                {
                    connection.sender().offer_finish(stdin);
                }
            }
        }
    }
    let is_whole = !awaited.contains(&streams.error);
    Some(Outcome::read(version, &error, is_whole))
}

/// Relays the client's input, as fast as the kubelet reads, until the client disconnects or violates the protocol.
async fn input(mut source: impl Stream<Item = Result<Message, Error>> + Unpin, sender: &Sender, streams: &Streams) {
    while let Some(Ok(message)) = source.next().await {
        let said = match message {
            Message::Binary(said) => said,
            Message::Text(said) => Bytes::from(said),
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => continue,
            Message::Close(_) => return,
        };
        let Some((&channel, said)) = said.split_first() else {
            continue;
        };
        // Data that cannot be sent any more is dropped: the kubelet's side reports the reason.
        let _ = match (channel, said) {
            (CLOSE, [STDIN]) => match streams.end_of_stdin() {
                Some(stdin) => sender.finish(stdin).await,
                None => Ok(()),
            },
            (CLOSE, [STDOUT..=RESIZE]) => Ok(()),
            (CLOSE, _) => return,
            (STDIN, said) => match streams.stdin.filter(|_| streams.is_stdin_open.load(Ordering::Relaxed)) {
                Some(stdin) => sender.data(stdin, said).await,
                None => Ok(()),
            },
            (RESIZE, said) => match (streams.resize, sizes(said)) {
                (Some(resize), sizes) if !sizes.is_empty() => sender.data(resize, &sizes).await,
                _ => Ok(()),
            },
            _ => Ok(()),
        };
    }
}

/// The terminal sizes in a client's message, as a kubelet reads them, up to the first invalid one. A message that is
/// too long has none.
fn sizes(said: &[u8]) -> Vec<u8> {
    if said.len() > MAX_RESIZE {
        return Vec::new();
    }
    let sizes = serde_json::Deserializer::from_slice(said).into_iter::<TerminalSize>();
    let mut out = Vec::new();
    for size in sizes.map_while(Result::ok) {
        out.extend(serde_json::to_vec(&size).unwrap_or_default());
        out.push(b'\n');
    }
    out
}

fn message(channel: u8, bytes: &[u8]) -> Message {
    let mut message = Vec::with_capacity(bytes.len() + 1);
    message.push(channel);
    message.extend_from_slice(bytes);
    Message::Binary(message.into())
}

#[cfg(test)]
mod tests;
