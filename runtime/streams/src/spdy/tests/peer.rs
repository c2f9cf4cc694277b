//! The other side of a connection: behaves like a kubelet.

use super::*;
use crate::spdy::frame::{self, ping};

/// A server of streams.
pub(crate) struct Peer<IO> {
    io: IO,
    headers: HeaderReader,
}

/// Reads header blocks as kubelets do.
pub(crate) struct HeaderReader(Decompress);

impl HeaderReader {
    pub(crate) fn new() -> Self {
        Self(Decompress::new(true))
    }

    pub(crate) fn read(&mut self, block: &[u8]) -> Vec<(String, String)> {
        let mut plain = Vec::with_capacity(64 << 10);
        let start = self.0.total_in();
        if let Err(error) = self.0.decompress_vec(block, &mut plain, FlushDecompress::Sync) {
            assert!(error.needs_dictionary().is_some(), "{error}");
            self.0.set_dictionary(DICTIONARY).unwrap();
        }
        let taken = usize::try_from(self.0.total_in() - start).unwrap();
        self.0
            .decompress_vec(&block[taken..], &mut plain, FlushDecompress::Sync)
            .unwrap();
        assert_eq!(self.0.total_in() - start, block.len() as u64, "the block is read");
        let mut rest = &plain[..];
        let mut length = || {
            let (head, tail) = rest.split_at(4);
            rest = tail;
            u32::from_be_bytes(head.try_into().unwrap())
        };
        let count = length();
        let mut texts = Vec::new();
        for _ in 0..2 * count {
            let (head, tail) = rest.split_at(4);
            let length = u32::from_be_bytes(head.try_into().unwrap()) as usize;
            texts.push(String::from_utf8(tail[..length].to_vec()).unwrap());
            rest = &tail[length..];
        }
        assert!(rest.is_empty());
        texts.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
    }
}

impl<IO: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin> Peer<IO> {
    pub(crate) fn new(io: IO) -> Self {
        let headers = HeaderReader::new();
        Self { io, headers }
    }

    async fn frame(&mut self) -> (u32, u8, Vec<u8>) {
        let first = self.io.read_u32().await.unwrap();
        let second = self.io.read_u32().await.unwrap();
        let mut payload = vec![0; (second & 0x00ff_ffff) as usize];
        self.io.read_exact(&mut payload).await.unwrap();
        (first, (second >> 24) as u8, payload)
    }

    /// The next control frame.
    pub(crate) async fn control(&mut self) -> (u16, Vec<u8>) {
        let (first, _, payload) = self.frame().await;
        assert_eq!(first >> 16, 0x8003, "a control frame");
        ((first & 0xffff) as u16, payload)
    }

    /// The next request for a stream.
    pub(crate) async fn request(&mut self) -> (u32, Vec<(String, String)>) {
        loop {
            let (kind, payload) = self.control().await;
            if kind == 6 {
                continue;
            }
            assert_eq!(kind, 1, "a stream is opened");
            let stream = u32::from_be_bytes(payload[..4].try_into().unwrap());
            return (stream, self.headers.read(&payload[10..]));
        }
    }

    /// Opens the stream that is requested next.
    pub(crate) async fn accept(&mut self) -> (u32, Vec<(String, String)>) {
        let received = self.request().await;
        self.send(&reply(received.0)).await;
        received
    }

    /// The next data, and true if it is the last of its stream.
    pub(crate) async fn data(&mut self) -> (u32, Vec<u8>, bool) {
        loop {
            let (first, flags, payload) = self.frame().await;
            if first >> 31 == 0 {
                return (first, payload, flags & 1 == 1);
            }
        }
    }

    pub(crate) async fn send(&mut self, frame: &[u8]) {
        self.io.write_all(frame).await.unwrap();
    }

    /// Waits until the client has closed the connection, and counts the bytes that it sent meanwhile.
    pub(crate) async fn end(mut self) -> usize {
        let mut rest = Vec::new();
        // A connection that breaks has ended, too.
        let _ = self.io.read_to_end(&mut rest).await;
        rest.len()
    }
}

pub(crate) fn control(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = ping(0)[..4].to_vec();
    frame[3] = kind;
    frame.extend(u32::try_from(payload.len()).unwrap().to_be_bytes());
    frame.extend(payload);
    frame
}

/// Data of a stream.
pub(crate) fn data(stream: u32, bytes: &[u8], is_last: bool) -> Vec<u8> {
    frame::data(stream, bytes, is_last)
}

/// Agrees to a stream, without headers.
pub(crate) fn reply(stream: u32) -> Vec<u8> {
    control(2, &stream.to_be_bytes())
}

pub(crate) fn reset(stream: u32) -> Vec<u8> {
    control(3, &[stream.to_be_bytes(), 5_u32.to_be_bytes()].concat())
}
