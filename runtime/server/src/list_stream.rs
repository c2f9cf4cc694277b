//! The bodies of lists, assembled or encoded while they are sent.
//!
//! Whatever the size of a list, one chunk of it is in memory beside the cache.

mod messages;
mod slices;
mod text;

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use planesmith_store::Entry;

pub(crate) use messages::{MessageList, WriteMessage};
pub(crate) use slices::{CHEAP_CHUNK, CHUNK, FirstSlice, SlicedBody, Slices, begin};
pub(crate) use text::{NumberOf, TextList, WriteItem};

/// A list whose items are slices of cached bytes: a head, items separated by commas, and a tail.
#[derive(Debug)]
pub struct ListStream {
    head: Vec<u8>,
    entries: Vec<Arc<Entry>>,
    /// Bytes at the start of each entry that are left out.
    skip: usize,
    /// Text in front of each item's bytes.
    open: &'static str,
    tail: Vec<u8>,
    position: Position,
    left: usize,
}

/// The number of entries whose memory is waited for together.
const PREFETCHED: usize = 8;

#[derive(Clone, Copy, Debug)]
enum Position {
    Head,
    Item(usize),
    Done,
}

impl ListStream {
    /// Returns a list that starts with `head` and ends with `tail`; each item is `open` and the bytes of an entry after
    /// the first `skip` ones.
    #[must_use]
    pub fn new(head: Vec<u8>, entries: Vec<Arc<Entry>>, skip: usize, open: &'static str, tail: Vec<u8>) -> Self {
        let count = entries.len();
        let bytes: usize = entries.iter().map(|entry| entry.size().saturating_sub(skip)).sum();
        let around = count * open.len() + count.saturating_sub(1);
        let left = head.len() + bytes + around + tail.len();
        Self {
            head,
            entries,
            skip,
            open,
            tail,
            position: Position::Head,
            left,
        }
    }

    /// Bytes that are not sent yet.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Appends the next bytes until `chunk` has `enough` bytes.
    fn fill(&mut self, chunk: &mut Vec<u8>, enough: usize) {
        self.append(chunk, enough);
        self.left = self.left.saturating_sub(chunk.len());
    }

    fn append(&mut self, chunk: &mut Vec<u8>, enough: usize) {
        while chunk.len() < enough {
            self.position = match self.position {
                Position::Head => {
                    chunk.extend_from_slice(&self.head);
                    Position::Item(0)
                }
                Position::Item(index) if index < self.entries.len() => {
                    if index > 0 {
                        chunk.push(b',');
                    }
                    chunk.extend_from_slice(self.open.as_bytes());
                    if index.is_multiple_of(PREFETCHED) {
                        let next = self.entries[index..].chunks(PREFETCHED).next();
                        Entry::prefetch(next.unwrap_or_default());
                    }
                    self.entries[index].push_bytes(self.skip, chunk);
                    Position::Item(index + 1)
                }
                Position::Item(_) => {
                    chunk.extend_from_slice(&self.tail);
                    Position::Done
                }
                Position::Done => return,
            };
        }
    }
}

impl Body for ListStream {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::convert::Infallible>>> {
        let list = self.get_mut();
        let mut chunk = Vec::with_capacity(list.left.min(CHUNK + CHUNK / 4));
        list.fill(&mut chunk, CHUNK);
        Poll::Ready((!chunk.is_empty()).then(|| Ok(Frame::data(Bytes::from(chunk)))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.position, Position::Done)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left as u64)
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use planesmith_store::RowRef;

    use super::*;
    use crate::offload::Cost;

    fn list(items: usize, size: usize) -> ListStream {
        let bytes = Bytes::from([b"{}".to_vec(), vec![b'7'; size]].concat());
        let entry = Arc::new(Entry::unstored("/a", bytes, RowRef::default()));
        ListStream::new(b"{\"items\":[".to_vec(), vec![entry; items], 2, "{", b"]}\n".to_vec())
    }

    #[test]
    fn slices_of_transcoded_messages_are_encoded_in_the_polling_task() {
        assert!(Cost::of_transcoding(CHEAP_CHUNK) < Cost::INLINE);
    }

    #[tokio::test]
    async fn chunks_add_up_to_the_announced_list() {
        for (items, size) in [(0, 0), (1, 1), (3, 0), (1000, 700), (2, 200_000)] {
            let item = format!("{{{}", "7".repeat(size));
            let whole = format!("{{\"items\":[{}]}}\n", vec![item; items].join(","));
            let mut body = list(items, size);
            let mut sent = Vec::new();
            while !body.is_end_stream() {
                assert_eq!(body.size_hint().exact(), Some((whole.len() - sent.len()) as u64));
                let frame = body.frame().await.expect("not at the end").expect("never fails");
                sent.extend_from_slice(frame.data_ref().expect("only data"));
            }
            assert_eq!(String::from_utf8(sent).expect("text"), whole);
            assert!(body.frame().await.is_none());
        }
    }
}
