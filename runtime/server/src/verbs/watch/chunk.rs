//! Frames that are sent together.

use std::collections::VecDeque;

use bytes::Bytes;

/// Minimum size of a frame with a chunk of its own, in bytes.
const LARGE: usize = 4 << 10;

/// Maximum size of a chunk that combines frames, in bytes: one frame of HTTP/2.
const MAX_CHUNK: usize = 16 << 10;

/// Frames of one watch that wait to be sent, in order.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    frames: VecDeque<Bytes>,
}

impl Chunk {
    pub(super) fn push(&mut self, frame: Bytes) {
        self.frames.push_back(frame);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The next bytes to send; `None` when there are none.
    ///
    /// A client that keeps up gets small frames combined in one short-lived copy. While bytes are unsent, each frame
    /// stays the slice that all watches share, however long it waits.
    pub(super) fn next(&mut self, all_sent: bool) -> Option<Bytes> {
        let first = self.frames.pop_front()?;
        let small = |frame: &Bytes| frame.len() < LARGE;
        if !all_sent || !small(&first) || !self.frames.front().is_some_and(small) {
            return Some(first);
        }
        let mut together = Vec::with_capacity(MAX_CHUNK);
        together.extend_from_slice(&first);
        while let Some(next) = self.frames.front().filter(|next| small(next))
            && together.len() + next.len() <= MAX_CHUNK
        {
            together.extend_from_slice(next);
            self.frames.pop_front();
        }
        Some(together.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(frames: &[&'static [u8]]) -> Chunk {
        let frames = frames.iter().map(|frame| Bytes::from_static(frame)).collect();
        Chunk { frames }
    }

    fn chunks(mut chunk: Chunk, all_sent: bool) -> Vec<Bytes> {
        std::iter::from_fn(|| chunk.next(all_sent)).collect()
    }

    static BIG: [u8; LARGE] = [b'x'; LARGE];

    #[test]
    fn small_frames_go_out_together() {
        assert_eq!(chunks(chunk(&[b"a", b"b", b"c"]), true), ["abc"]);
        assert_eq!(chunks(chunk(&[b"a", b"b", &BIG, b"c"]), true), [&b"ab"[..], &BIG, b"c"]);
        let most = chunk(&[&BIG[1..]; 9]);
        let lengths: Vec<_> = chunks(most, true).iter().map(Bytes::len).collect();
        assert_eq!(lengths, [4, 4, 1].map(|frames| frames * (LARGE - 1)));
    }

    #[test]
    fn single_and_waiting_frames_are_not_copied() {
        assert_eq!(chunks(chunk(&[&BIG[..7]]), true)[0].as_ptr(), BIG.as_ptr());
        let waiting = chunks(chunk(&[&BIG[..7], &BIG[..8]]), false);
        assert_eq!(waiting.iter().map(Bytes::len).collect::<Vec<_>>(), [7, 8]);
        assert!(waiting.iter().all(|frame| frame.as_ptr() == BIG.as_ptr()));
    }
}
