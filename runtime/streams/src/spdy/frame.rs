//! Frames: those that a client sends, and a reader of those that it receives.

use std::io;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Maximum size of a piece of data, in bytes; a larger frame arrives in pieces.
pub(super) const MAX_DATA: usize = 32 << 10;

/// Maximum size of a control frame, in bytes. Its header block is skipped.
const MAX_CONTROL: usize = 64 << 10;

/// Marks a control frame of version 3.
const CONTROL: u32 = 0x8003_0000;
const IS_CONTROL: u32 = 0x8000_0000;
const STREAM_MASK: u32 = 0x7fff_ffff;
const LENGTH_MASK: u32 = 0x00ff_ffff;
const FIN: u8 = 1;

const SYN_STREAM: u16 = 1;
const SYN_REPLY: u16 = 2;
const RST_STREAM: u16 = 3;
const PING: u16 = 6;
const GOAWAY: u16 = 7;
const HEADERS: u16 = 8;

/// Status of a reset: the other side may not open streams.
const REFUSED_STREAM: u32 = 3;

/// A frame from the other side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// The other side opens a stream.
    SynStream { stream: u32 },
    /// A stream was opened.
    SynReply { stream: u32, is_last: bool },
    /// A stream was reset.
    Reset { stream: u32 },
    /// A ping, to be sent back if its id is one of the other side's.
    Ping { id: u32 },
    /// No more streams are opened.
    GoAway,
    /// Further headers, which are skipped.
    Headers { stream: u32, is_last: bool },
    /// Data, perhaps a part of a frame.
    Data { stream: u32, bytes: Bytes, is_last: bool },
    /// Settings, windows and frames without a meaning here.
    Other,
}

/// A frame that opens a stream.
pub(super) fn syn_stream(stream: u32, block: &[u8]) -> Vec<u8> {
    // No associated stream, the highest priority, no credential.
    let head = [&stream.to_be_bytes()[..], &[0; 4], &[0, 0]].concat();
    control(SYN_STREAM, &[&head, block].concat())
}

/// A data frame, which ends the client's side of the stream if `is_last`.
pub(super) fn data(stream: u32, bytes: &[u8], is_last: bool) -> Vec<u8> {
    let mut frame = Vec::with_capacity(bytes.len() + 8);
    frame.extend_from_slice(&(stream & STREAM_MASK).to_be_bytes());
    push_length(if is_last { FIN } else { 0 }, bytes.len(), &mut frame);
    frame.extend_from_slice(bytes);
    frame
}

/// A ping, or the answer to one.
pub(super) fn ping(id: u32) -> Vec<u8> {
    control(PING, &id.to_be_bytes())
}

/// A frame that refuses a stream of the other side.
pub(super) fn refuse(stream: u32) -> Vec<u8> {
    control(
        RST_STREAM,
        &[stream.to_be_bytes(), REFUSED_STREAM.to_be_bytes()].concat(),
    )
}

fn control(kind: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(payload.len() + 8);
    frame.extend_from_slice(&(CONTROL | u32::from(kind)).to_be_bytes());
    push_length(0, payload.len(), &mut frame);
    frame.extend_from_slice(payload);
    frame
}

fn push_length(flags: u8, length: usize, frame: &mut Vec<u8>) {
    let length = u32::try_from(length).unwrap_or(LENGTH_MASK) & LENGTH_MASK;
    frame.extend_from_slice(&(u32::from(flags) << 24 | length).to_be_bytes());
}

/// Reads frames one by one.
#[derive(Debug)]
pub(super) struct FrameReader<R> {
    source: R,
    rest: Option<Rest>,
}

/// The rest of a data frame.
#[derive(Debug)]
struct Rest {
    stream: u32,
    length: usize,
    is_last: bool,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, rest: None }
    }

    /// The next frame; `None` when the connection ends between two frames. Dropping the future loses the position in
    /// the stream.
    ///
    /// # Errors
    ///
    /// The connection breaks, or a frame is not valid in SPDY/3.
    pub(super) async fn next(&mut self) -> io::Result<Option<Frame>> {
        if let Some(rest) = self.rest.take() {
            return self.data(rest).await.map(Some);
        }
        let mut head = [0; 8];
        if self.source.read(&mut head[..1]).await? == 0 {
            return Ok(None);
        }
        self.source.read_exact(&mut head[1..]).await?;
        let (first, second) = (word(&head, 0), word(&head, 4));
        let is_last = (second >> 24) as u8 & FIN != 0;
        let length = (second & LENGTH_MASK) as usize;
        if first & IS_CONTROL == 0 {
            let stream = named(first)?;
            let rest = Rest {
                stream,
                length,
                is_last,
            };
            return self.data(rest).await.map(Some);
        }
        if first & 0xffff_0000 != CONTROL {
            return Err(malformed("a version of SPDY other than 3"));
        }
        if length > MAX_CONTROL {
            return Err(malformed("a control frame is too long"));
        }
        let mut payload = vec![0; length];
        self.source.read_exact(&mut payload).await?;
        parse((first & 0xffff) as u16, &payload, is_last).map(Some)
    }

    async fn data(&mut self, rest: Rest) -> io::Result<Frame> {
        let mut bytes = vec![0; rest.length.min(MAX_DATA)];
        self.source.read_exact(&mut bytes).await?;
        let left = rest.length - bytes.len();
        let frame = Frame::Data {
            stream: rest.stream,
            bytes: bytes.into(),
            is_last: rest.is_last && left == 0,
        };
        self.rest = (left > 0).then_some(Rest { length: left, ..rest });
        Ok(frame)
    }
}

fn parse(kind: u16, payload: &[u8], is_last: bool) -> io::Result<Frame> {
    let least = match kind {
        SYN_STREAM => 10,
        RST_STREAM | GOAWAY => 8,
        SYN_REPLY | PING | HEADERS => 4,
        _ => return Ok(Frame::Other),
    };
    if payload.len() < least {
        return Err(malformed("a control frame is too short"));
    }
    let first = word(payload, 0);
    Ok(match kind {
        SYN_STREAM => Frame::SynStream { stream: named(first)? },
        SYN_REPLY => Frame::SynReply {
            stream: named(first)?,
            is_last,
        },
        RST_STREAM => Frame::Reset { stream: named(first)? },
        HEADERS => Frame::Headers {
            stream: named(first)?,
            is_last,
        },
        PING => Frame::Ping { id: first },
        _ => Frame::GoAway,
    })
}

/// The id of a stream, which is never zero.
fn named(word: u32) -> io::Result<u32> {
    match word & STREAM_MASK {
        0 => Err(malformed("a frame without a stream")),
        stream => Ok(stream),
    }
}

/// Four bytes of `bytes`, which must have them.
fn word(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
    u32::from_be_bytes(word.unwrap_or_default())
}

fn malformed(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
