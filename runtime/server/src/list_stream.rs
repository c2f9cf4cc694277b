//! The body of a list: slices of what the cache holds, put together while they are sent.
//!
//! Whatever the size of a list, one chunk of it is in memory beside the cache.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use planesmith_store::Entry;

/// Bytes that a chunk has at least, unless it is the last one.
const CHUNK: usize = 64 << 10;

/// A list as text: something in front, items between separators, something behind.
#[derive(Debug)]
pub struct ListStream {
    head: Vec<u8>,
    items: Items,
    /// In front of each item's bytes.
    open: &'static str,
    /// Behind each item's bytes.
    close: &'static str,
    tail: Cow<'static, [u8]>,
    position: Position,
    left: usize,
}

/// The items, each without what is the same for all of them.
#[derive(Debug)]
pub enum Items {
    /// The canonical bytes of entries behind their first `skip` ones.
    Entries {
        /// The entries.
        entries: Vec<Arc<Entry>>,
        /// How many bytes of each are left out.
        skip: usize,
    },
    /// Bytes of their own.
    Bytes(Vec<Bytes>),
}

#[derive(Clone, Copy, Debug)]
enum Position {
    Head,
    Item(usize),
    Done,
}

impl Items {
    fn len(&self) -> usize {
        match self {
            Items::Entries { entries, .. } => entries.len(),
            Items::Bytes(items) => items.len(),
        }
    }

    fn get(&self, index: usize) -> &[u8] {
        match self {
            Items::Entries { entries, skip } => entries
                .get(index)
                .and_then(|entry| entry.bytes().get(*skip..))
                .unwrap_or_default(),
            Items::Bytes(items) => items.get(index).map_or(&[], |item| item),
        }
    }
}

impl ListStream {
    /// A list that starts with `head` and ends with `tail`; each item stands between `open` and `close`.
    #[must_use]
    pub fn new(
        head: Vec<u8>,
        items: Items,
        (open, close): (&'static str, &'static str),
        tail: impl Into<Cow<'static, [u8]>>,
    ) -> Self {
        let tail = tail.into();
        let count = items.len();
        let bytes: usize = (0..count).map(|index| items.get(index).len()).sum();
        let around = count * (open.len() + close.len()) + count.saturating_sub(1);
        let left = head.len() + bytes + around + tail.len();
        Self {
            head,
            items,
            open,
            close,
            tail,
            position: Position::Head,
            left,
        }
    }

    /// How many bytes are still to come.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left
    }

    /// The whole list in one buffer, for forms that are made of it.
    #[must_use]
    pub fn into_vec(mut self) -> Vec<u8> {
        let mut whole = Vec::with_capacity(self.left);
        self.fill(&mut whole, usize::MAX);
        whole
    }

    /// Appends what comes next until `chunk` has `enough` bytes.
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
                Position::Item(index) if index < self.items.len() => {
                    if index > 0 {
                        chunk.push(b',');
                    }
                    chunk.extend_from_slice(self.open.as_bytes());
                    chunk.extend_from_slice(self.items.get(index));
                    chunk.extend_from_slice(self.close.as_bytes());
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

    use super::*;

    fn list(items: usize, size: usize) -> ListStream {
        let item = Bytes::from(vec![b'7'; size]);
        ListStream::new(
            b"{\"items\":[".to_vec(),
            Items::Bytes(vec![item; items]),
            ("{", "}"),
            b"]}\n",
        )
    }

    #[tokio::test]
    async fn chunks_add_up_to_the_announced_list() {
        for (items, size) in [(0, 0), (1, 1), (3, 0), (1000, 700), (2, 200_000)] {
            let whole = list(items, size).into_vec();
            assert_eq!(whole.len(), list(items, size).left());
            let mut body = list(items, size);
            let mut sent = Vec::new();
            while !body.is_end_stream() {
                assert_eq!(body.size_hint().exact(), Some((whole.len() - sent.len()) as u64));
                let frame = body.frame().await.expect("not at the end").expect("never fails");
                sent.extend_from_slice(frame.data_ref().expect("only data"));
            }
            assert_eq!(sent, whole);
            assert!(body.frame().await.is_none());
        }
    }

    #[test]
    fn items_stand_between_commas() {
        assert_eq!(list(2, 1).into_vec(), b"{\"items\":[{7},{7}]}\n");
        assert_eq!(list(0, 1).into_vec(), b"{\"items\":[]}\n");
    }
}
