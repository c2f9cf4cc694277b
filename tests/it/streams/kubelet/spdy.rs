//! The kubelet's side of SPDY/3.1.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio_rustls::server::TlsStream;

/// The dictionary of both sides' header blocks.
const DICTIONARY: &[u8] = include_bytes!("../../../../runtime/streams/src/spdy/dictionary.bin");

const SYN_STREAM: u32 = 0x8003_0001;
const SYN_REPLY: u32 = 0x8003_0002;
const PING: u32 = 0x8003_0006;
const FIN: u8 = 1;

/// An event on the client's streams.
pub(super) enum Event {
    /// The client opened a stream; it is accepted.
    Open(u32, HashMap<String, String>),
    /// The client sent data, or ended its side.
    Data(u32, Vec<u8>, bool),
}

/// Reads the frames of a client.
pub(super) struct Reader {
    io: ReadHalf<TlsStream<TcpStream>>,
    headers: Decompress,
    writer: Writer,
}

/// Writes frames to a client.
#[derive(Clone)]
pub(super) struct Writer(Arc<Mutex<(WriteHalf<TlsStream<TcpStream>>, Compress)>>);

/// The two directions of a connection.
pub(super) fn split(stream: TlsStream<TcpStream>) -> (Reader, Writer) {
    let (reader, writer) = tokio::io::split(stream);
    let mut compress = Compress::new(Compression::fast(), true);
    compress.set_dictionary(DICTIONARY).unwrap();
    let writer = Writer(Arc::new(Mutex::new((writer, compress))));
    let reader = Reader {
        io: reader,
        headers: Decompress::new(true),
        writer: writer.clone(),
    };
    (reader, writer)
}

impl Reader {
    /// Returns the next event, and answers pings.
    pub(super) async fn next(&mut self) -> io::Result<Event> {
        loop {
            let (first, second) = (self.io.read_u32().await?, self.io.read_u32().await?);
            let mut payload = vec![0; (second & 0x00ff_ffff) as usize];
            self.io.read_exact(&mut payload).await?;
            match first {
                SYN_STREAM => {
                    let stream = u32::from_be_bytes(payload[..4].try_into().unwrap());
                    let headers = self.block(&payload[10..]);
                    self.writer.accept(stream).await?;
                    return Ok(Event::Open(stream, headers));
                }
                PING => self.writer.frame(PING, 0, &payload).await?,
                stream if stream >> 31 == 0 => {
                    let is_last = (second >> 24).to_be_bytes()[3] & FIN != 0;
                    return Ok(Event::Data(stream, payload, is_last));
                }
                _ => {}
            }
        }
    }

    /// Waits until the client has ended the connection.
    pub(super) async fn end(mut self) {
        // A broken connection counts as ended.
        let _ = tokio::io::copy(&mut self.io, &mut tokio::io::sink()).await;
    }

    fn block(&mut self, block: &[u8]) -> HashMap<String, String> {
        let mut plain = Vec::with_capacity(16 << 10);
        let start = self.headers.total_in();
        let mut read = self.headers.decompress_vec(block, &mut plain, FlushDecompress::Sync);
        if read.is_err() {
            // The first block asks for the dictionary.
            self.headers.set_dictionary(DICTIONARY).unwrap();
            let taken = usize::try_from(self.headers.total_in() - start).unwrap();
            let rest = &block[taken..];
            read = self.headers.decompress_vec(rest, &mut plain, FlushDecompress::Sync);
        }
        read.unwrap();
        let mut rest = &plain[4..];
        let mut text = || {
            let (length, tail) = rest.split_at_checked(4)?;
            let (text, tail) = tail.split_at(u32::from_be_bytes(length.try_into().unwrap()) as usize);
            rest = tail;
            Some(String::from_utf8(text.to_vec()).unwrap())
        };
        std::iter::from_fn(|| Some((text()?, text()?))).collect()
    }
}

impl Writer {
    /// Sends data on a stream, and closes this side of the stream with the last chunk.
    pub(super) async fn data(&self, stream: u32, bytes: &[u8], is_last: bool) -> io::Result<()> {
        self.frame(stream, if is_last { FIN } else { 0 }, bytes).await
    }

    async fn accept(&self, stream: u32) -> io::Result<()> {
        let mut reply = stream.to_be_bytes().to_vec();
        reply.reserve(256);
        let mut writer = self.0.lock().await;
        let (io, compress) = &mut *writer;
        compress.compress_vec(&[0; 4], &mut reply, FlushCompress::Sync)?;
        write(io, SYN_REPLY, 0, &reply).await
    }

    async fn frame(&self, first: u32, flags: u8, payload: &[u8]) -> io::Result<()> {
        write(&mut self.0.lock().await.0, first, flags, payload).await
    }
}

async fn write(io: &mut WriteHalf<TlsStream<TcpStream>>, first: u32, flags: u8, payload: &[u8]) -> io::Result<()> {
    let second = u32::from(flags) << 24 | u32::try_from(payload.len()).unwrap();
    let frame = [&first.to_be_bytes()[..], &second.to_be_bytes(), payload].concat();
    io.write_all(&frame).await?;
    io.flush().await
}
