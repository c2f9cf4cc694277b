use std::io;

use bytes::Bytes;
use flate2::{Decompress, FlushDecompress};
use proptest::prelude::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

use super::frame::{Frame, FrameReader, data};
use super::header_block::{DICTIONARY, HeaderCompressor};
use super::*;

pub(crate) mod peer;

use self::peer::Peer;

/// A connection and its other side. The driver runs until the connection ends.
fn connected() -> (Connection<DuplexStream>, Peer<DuplexStream>) {
    let (client, server) = tokio::io::duplex(1 << 20);
    let (connection, driver) = Connection::new(client).unwrap();
    tokio::spawn(driver.run());
    (connection, Peer::new(server))
}

#[test]
fn the_dictionary_is_that_of_the_draft() {
    let mut compressor = HeaderCompressor::new().unwrap();
    let block = compressor.block(&[("streamtype", "stdin")]).unwrap();
    // Every compressed block begins with the checksum of the dictionary.
    assert_eq!((DICTIONARY.len(), &block[2..6]), (1423, &[0xe3, 0xc6, 0xa7, 0xc2][..]));
}

#[test]
fn blocks_follow_on_each_other() {
    let mut compressor = HeaderCompressor::new().unwrap();
    let mut reader = peer::HeaderReader::new();
    let long = "x".repeat(5000);
    for headers in [&[("streamtype", "error")][..], &[("a", ""), ("long", &long)], &[]] {
        let block = compressor.block(headers).unwrap();
        let expected: Vec<_> = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        assert_eq!(reader.read(&block), expected);
    }
}

#[tokio::test]
async fn streams_are_opened_and_data_go_both_ways() {
    let (mut connection, mut peer) = connected();
    let served = tokio::spawn(async move {
        for number in [1, 3] {
            assert_eq!(
                peer.accept().await,
                (number, vec![("streamtype".to_owned(), format!("s{number}"))])
            );
        }
        assert_eq!(peer.data().await, (3, b"hello".to_vec(), false));
        assert_eq!(peer.data().await, (3, Vec::new(), true));
        peer.send(&data(1, b"wor", false)).await;
        peer.send(&data(1, b"ld", true)).await;
        peer.send(&peer::reset(3)).await;
        peer
    });
    let first = connection.open(&[("streamtype", "s1")]).await.unwrap();
    let second = connection.open(&[("streamtype", "s3")]).await.unwrap();
    let sender = connection.sender();
    sender.data(second, b"hello").await.unwrap();
    sender.finish(second).await.unwrap();
    let mut events = Vec::new();
    for _ in 0..4 {
        events.push(connection.next().await.unwrap().unwrap());
    }
    let word = |text: &'static [u8]| Event::Data(first, Bytes::from_static(text));
    assert_eq!(
        events,
        [word(b"wor"), word(b"ld"), Event::End(first), Event::Reset(second)]
    );
    drop(served.await.unwrap());
    assert_eq!(connection.next().await.unwrap(), None);
}

#[tokio::test]
async fn pings_are_answered_and_foreign_streams_refused() {
    let (mut connection, mut peer) = connected();
    let served = tokio::spawn(async move {
        peer.accept().await;
        // Settings, a window update, a ping of the client's own, and a frame that no draft defines.
        for (kind, payload) in [
            (4, vec![0; 4]),
            (9, vec![0, 0, 0, 1, 0, 0, 0, 9]),
            (6, vec![0, 0, 0, 7]),
            (77, vec![]),
        ] {
            peer.send(&peer::control(kind, &payload)).await;
        }
        peer.send(&peer::control(6, &[0, 0, 0, 2])).await;
        peer.send(&peer::control(1, &[0, 0, 0, 2, 0, 0, 0, 0, 0, 0])).await;
        let ping = peer.control().await;
        let refusal = peer.control().await;
        peer.send(&data(1, b"", true)).await;
        (ping, refusal)
    });
    let stream = connection.open(&[("streamtype", "error")]).await.unwrap();
    assert_eq!(connection.next().await.unwrap(), Some(Event::End(stream)));
    let (ping, refusal) = served.await.unwrap();
    assert_eq!(ping, (6, vec![0, 0, 0, 2]));
    assert_eq!(refusal, (3, vec![0, 0, 0, 2, 0, 0, 0, 3]));
}

#[tokio::test]
async fn data_before_all_streams_are_open_is_buffered_in_order() {
    let (mut connection, mut peer) = connected();
    let served = tokio::spawn(async move {
        peer.accept().await;
        peer.request().await;
        peer.send(&data(1, b"early", true)).await;
        peer.send(&peer::reply(3)).await;
        peer
    });
    let first = connection.open(&[("streamtype", "stdout")]).await.unwrap();
    connection.open(&[("streamtype", "stderr")]).await.unwrap();
    let early = Event::Data(first, Bytes::from_static(b"early"));
    assert_eq!(connection.next().await.unwrap(), Some(early));
    assert_eq!(connection.next().await.unwrap(), Some(Event::End(first)));
    drop(served.await.unwrap());
}

#[tokio::test]
async fn streams_that_are_not_opened_are_errors() {
    let (mut connection, mut peer) = connected();
    let usual = std::mem::take(&mut connection.open_within);
    let silent = connection.open(&[]).await.unwrap_err();
    connection.open_within = usual;
    assert!(matches!(silent, SpdyError::Late), "{silent}");
    peer.request().await;
    let refusing = tokio::spawn(async move {
        peer.request().await;
        peer.send(&peer::reset(3)).await;
        peer
    });
    let refused = connection.open(&[]).await.unwrap_err();
    assert!(matches!(refused, SpdyError::Refused), "{refused}");
    let mut peer = refusing.await.unwrap();
    let flooding = tokio::spawn(async move {
        peer.request().await;
        for _ in 0..100 {
            peer.send(&data(1, b"x", false)).await;
        }
        peer
    });
    let flooded = connection.open(&[]).await.unwrap_err();
    assert_eq!(
        flooded.to_string(),
        "too much data arrived before all streams were open"
    );
    drop(flooding.await.unwrap());
}

#[tokio::test]
async fn bytes_that_are_no_spdy_are_refused() {
    for wrong in [
        &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..1],
        &[0x80, 2, 0, 1, 0, 0, 0, 0],
        &[0x80, 3, 0, 2, 0, 0xff, 0xff, 0xff],
        &[0x80, 3, 0, 2, 0, 0, 0, 3, 0, 0, 1],
        &[0x80, 3, 0, 2, 0, 0, 0, 4, 0, 0, 0, 0],
        &[0, 0, 0, 0, 0, 0, 0, 0],
        &[0, 0, 0, 1, 0, 0, 0, 5, b'h'],
    ] {
        let error = FrameReader::new(wrong).next().await.unwrap_err();
        assert!(
            matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof),
            "{wrong:?}: {error}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn data_arrive_as_they_were_sent(
        sent in proptest::collection::vec((1_u32..100, 0_usize..100_000, any::<bool>()), 0..6)
    ) {
        let frames = sent.iter().map(|(stream, length, is_last)| data(*stream, &vec![7; *length], *is_last));
        let bytes: Vec<u8> = frames.flatten().collect();
        let read = futures_util::FutureExt::now_or_never(async {
            let mut reader = FrameReader::new(&bytes[..]);
            let mut read: Vec<(u32, usize, bool)> = Vec::new();
            let mut is_begun = false;
            while let Some(frame) = reader.next().await.unwrap() {
                let Frame::Data { stream, bytes, is_last } = frame else { panic!("{frame:?}") };
                let is_full = bytes.len() == frame::MAX_DATA;
                match read.last_mut().filter(|_| is_begun) {
                    Some(last) => *last = (stream, last.1 + bytes.len(), is_last),
                    None => read.push((stream, bytes.len(), is_last)),
                }
                is_begun = is_full && read.last().unwrap().1 < sent[read.len() - 1].1;
            }
            read
        });
        prop_assert_eq!(read.expect("memory does not wait"), sent);
    }

    #[test]
    fn any_bytes_are_frames_or_errors(bytes in proptest::collection::vec(any::<u8>(), 0..400), is_control: bool) {
        let mut bytes = bytes;
        if is_control && bytes.len() > 8 {
            // Gets past the version check with a plausible length.
            let kind = bytes[3] % 10;
            bytes[..5].copy_from_slice(&[0x80, 3, 0, kind, 0]);
            bytes[5] = 0;
            bytes[6] = 0;
        }
        let whole = futures_util::FutureExt::now_or_never(async {
            let mut reader = FrameReader::new(&bytes[..]);
            let mut frames = 0;
            while let Ok(Some(_)) = reader.next().await {
                frames += 1;
            }
            frames
        });
        prop_assert!(whole.expect("memory does not wait") <= bytes.len());
    }
}
