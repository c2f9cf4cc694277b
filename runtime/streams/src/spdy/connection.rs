//! Streams over one connection.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::time::Duration;

use bytes::Bytes;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite, BufReader, ReadHalf, WriteHalf};

use super::frame::{self, Frame, FrameReader};
use super::header_block::HeaderCompressor;
use super::writer::{self, Driver, Sender};

/// Time that the other side has to open a stream; kube-apiserver's value.
const OPEN_WITHIN: Duration = Duration::from_secs(30);

/// Maximum number of events that are stored while a stream is opened.
const MAX_EARLY: usize = 64;

/// A stream of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamId(u32);

impl StreamId {
    pub(super) fn number(self) -> u32 {
        self.0
    }
}

/// An event on a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Data; never empty.
    Data(StreamId, Bytes),
    /// The other side has ended the stream.
    End(StreamId),
    /// The other side has reset the stream.
    Reset(StreamId),
}

/// The reason that a stream cannot be opened.
#[derive(Debug, Error)]
pub enum SpdyError {
    /// The other side refuses it.
    #[error("stream reset")]
    Refused,
    /// The other side does not answer.
    #[error("timed out waiting for the stream to be opened")]
    Late,
    /// The connection breaks.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// The reading side of a connection.
#[derive(Debug)]
pub struct Connection<IO> {
    frames: FrameReader<BufReader<ReadHalf<IO>>>,
    sender: Sender,
    headers: HeaderCompressor,
    next: u32,
    /// Time that the other side has to open a stream.
    pub(super) open_within: Duration,
    /// Streams on which events may arrive.
    open: HashSet<StreamId>,
    /// Events that arrived while a stream was opened.
    early: VecDeque<Event>,
}

/// The meaning of one frame.
#[derive(Default)]
struct Meaning {
    opened: Option<StreamId>,
    /// In the order in which they occurred.
    events: [Option<Event>; 2],
}

impl From<Event> for Meaning {
    fn from(event: Event) -> Self {
        Self {
            events: [Some(event), None],
            ..Self::default()
        }
    }
}

impl<IO: AsyncRead + AsyncWrite> Connection<IO> {
    /// Uses SPDY over an upgraded connection. Frames are only sent while the driver is polled.
    ///
    /// # Errors
    ///
    /// There is no memory for the compression of headers.
    pub fn new(io: IO) -> io::Result<(Self, Driver<WriteHalf<IO>>)> {
        let (reader, sink) = tokio::io::split(io);
        let (sender, driver) = writer::new(sink);
        let connection = Self {
            frames: FrameReader::new(BufReader::new(reader)),
            sender,
            headers: HeaderCompressor::new()?,
            next: 1,
            open_within: OPEN_WITHIN,
            open: HashSet::new(),
            early: VecDeque::new(),
        };
        Ok((connection, driver))
    }

    /// The sending side.
    #[must_use]
    pub fn sender(&self) -> Sender {
        self.sender.clone()
    }

    /// Opens a stream, and waits until the other side has confirmed it.
    ///
    /// # Errors
    ///
    /// The other side refuses the stream or does not answer.
    pub async fn open(&mut self, headers: &[(&str, &str)]) -> Result<StreamId, SpdyError> {
        let stream = StreamId(self.next);
        // Ids of a client's streams are odd.
        self.next += 2;
        let block = self.headers.block(headers)?;
        self.sender.frame(frame::syn_stream(stream.0, &block)).await?;
        self.open.insert(stream);
        let answered = tokio::time::timeout(self.open_within, self.wait_for(stream)).await;
        answered.unwrap_or(Err(SpdyError::Late)).map(|()| stream)
    }

    async fn wait_for(&mut self, stream: StreamId) -> Result<(), SpdyError> {
        loop {
            let meaning = self.meaning().await?;
            let meaning = meaning.ok_or(io::ErrorKind::UnexpectedEof).map_err(io::Error::from)?;
            for event in meaning.events.into_iter().flatten() {
                if event == Event::Reset(stream) {
                    return Err(SpdyError::Refused);
                }
                if self.early.len() >= MAX_EARLY {
                    let why = "too much data arrived before all streams were open";
                    return Err(io::Error::new(io::ErrorKind::InvalidData, why).into());
                }
                self.early.push_back(event);
            }
            if meaning.opened == Some(stream) {
                return Ok(());
            }
        }
    }

    /// The next event; `None` when the connection ends. Data stays on the connection until it is requested.
    ///
    /// # Errors
    ///
    /// The connection breaks, or the other side does not speak SPDY/3.
    pub async fn next(&mut self) -> io::Result<Option<Event>> {
        loop {
            if let Some(event) = self.early.pop_front() {
                return Ok(Some(event));
            }
            let Some(meaning) = self.meaning().await? else {
                return Ok(None);
            };
            self.early.extend(meaning.events.into_iter().flatten());
        }
    }

    async fn meaning(&mut self) -> io::Result<Option<Meaning>> {
        let Some(frame) = self.frames.next().await? else {
            return Ok(None);
        };
        Ok(Some(match frame {
            Frame::SynReply { stream, is_last } => {
                let stream = StreamId(stream);
                let end = (is_last && self.open.remove(&stream)).then_some(Event::End(stream));
                Meaning {
                    opened: Some(stream),
                    events: [end, None],
                }
            }
            Frame::Data { stream, bytes, is_last } => self.data(StreamId(stream), bytes, is_last),
            Frame::Headers { stream, is_last: true } if self.open.remove(&StreamId(stream)) => {
                Event::End(StreamId(stream)).into()
            }
            Frame::Reset { stream } if self.open.remove(&StreamId(stream)) => Event::Reset(StreamId(stream)).into(),
            Frame::SynStream { stream } => {
                self.sender.offer(frame::refuse(stream));
                Meaning::default()
            }
            // Ids of a server's pings are even; the others answer those of the client.
            Frame::Ping { id } if id % 2 == 0 => {
                self.sender.offer(frame::ping(id));
                Meaning::default()
            }
            Frame::Headers { .. } | Frame::Reset { .. } | Frame::Ping { .. } | Frame::GoAway | Frame::Other => {
                Meaning::default()
            }
        }))
    }

    fn data(&mut self, stream: StreamId, bytes: Bytes, is_last: bool) -> Meaning {
        if !self.open.contains(&stream) {
            return Meaning::default();
        }
        let data = (!bytes.is_empty()).then_some(Event::Data(stream, bytes));
        let end = (is_last && self.open.remove(&stream)).then_some(Event::End(stream));
        Meaning {
            opened: None,
            events: [data, end],
        }
    }
}
