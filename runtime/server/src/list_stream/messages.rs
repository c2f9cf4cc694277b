//! Lists in protobuf.

use std::sync::Arc;

use planesmith_machinery::meta::ListMeta;
use planesmith_machinery::protobuf;
use planesmith_machinery::resource::Text;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_store::Entry;

use super::slices::{CHEAP_CHUNK, CHUNK, ListMemory, Slices};
use crate::offload::Cost;

/// Bytes of messages that are stored while the list is measured; further ones are encoded twice.
const MAX_CACHED: usize = 1 << 20;

/// Appends the message of an item, without envelope.
pub(crate) type WriteMessage = Box<dyn FnMut(&Arc<Entry>, &mut Vec<u8>) -> ApiResult<()> + Send>;

/// A list in protobuf. Its length precedes it, so its items are measured first, and an object that cannot be encoded is
/// found before the answer begins.
pub(crate) struct MessageList {
    api_version: Text,
    kind: Text,
    meta: ListMeta,
    entries: Vec<Arc<Entry>>,
    write: WriteMessage,
    cost: Cost,
    has_lengths: bool,
    stage: Stage,
    /// The number of entries measured, and then the number of entries written.
    done: usize,
    /// The encodings of the first items.
    cached: Vec<u8>,
    /// The number of items in `cached`.
    cached_items: usize,
    /// Bytes of the items.
    items: usize,
    /// Bytes that are not sent yet.
    left: u64,
    tail: Vec<u8>,
    message: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Measuring,
    Writing,
}

impl MessageList {
    /// Returns the list of `entries`; each item is what `write` appends, which must be the same at each call. A slice
    /// costs `cost`.
    pub(crate) fn new(
        (api_version, kind): (Text, Text),
        meta: &ListMeta,
        entries: Vec<Arc<Entry>>,
        write: WriteMessage,
        cost: Cost,
    ) -> Self {
        Self {
            api_version,
            kind,
            meta: meta.clone(),
            entries,
            write,
            cost,
            has_lengths: false,
            stage: Stage::Measuring,
            done: 0,
            cached: Vec::new(),
            cached_items: 0,
            items: 0,
            left: 0,
            tail: Vec::new(),
            message: Vec::new(),
        }
    }

    /// Stores the lengths of messages in the entries, for the next list. Only for the messages of one version.
    pub(crate) fn with_lengths(mut self) -> Self {
        self.has_lengths = true;
        self
    }

    /// Minimum bytes of a slice.
    fn chunk(&self) -> usize {
        match self.cost < Cost::INLINE {
            true => CHEAP_CHUNK,
            false => CHUNK,
        }
    }

    /// Appends the next item; false if there is none.
    fn item(&mut self, out: &mut Vec<u8>) -> ApiResult<bool> {
        let Some(entry) = self.entries.get(self.done) else {
            return Ok(false);
        };
        self.done += 1;
        if self.has_lengths
            && let Some(length) = entry.encoded_length()
        {
            protobuf::open_item(length as usize, out);
            let start = out.len();
            (self.write)(entry, out)?;
            return match out.len() - start == length as usize {
                true => Ok(true),
                false => Err(changed()),
            };
        }
        self.message.clear();
        (self.write)(entry, &mut self.message)?;
        protobuf::encode_item(&self.message, out);
        if self.has_lengths
            && let Ok(length) = u32::try_from(self.message.len())
        {
            entry.set_encoded_length(length);
        }
        Ok(true)
    }

    /// Skips the next items whose lengths are known.
    fn pass_known(&mut self) {
        while self.has_lengths
            && let Some(length) = self.entries.get(self.done).and_then(|entry| entry.encoded_length())
        {
            self.items += protobuf::item_length(length as usize);
            self.done += 1;
        }
    }

    /// Measures a slice of the items; true once all are measured.
    fn measure(&mut self) -> ApiResult<bool> {
        let (mut seen, chunk) = (0, self.chunk());
        let mut cached = std::mem::take(&mut self.cached);
        let mut more = true;
        while more && seen < chunk {
            self.pass_known();
            let start = cached.len();
            more = self.item(&mut cached)?;
            let item = cached.len() - start;
            self.items += item;
            seen += item;
            if more && self.cached_items + 1 == self.done && cached.len() <= MAX_CACHED {
                self.cached_items += 1;
            } else {
                cached.truncate(start);
            }
        }
        self.cached = cached;
        Ok(!more)
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        let (head, tail) = protobuf::around_items(&self.api_version, &self.kind, &self.meta, self.items);
        self.left = (self.items + tail.len()) as u64;
        self.tail = tail;
        self.stage = Stage::Writing;
        out.extend_from_slice(&head);
        self.left -= self.cached.len() as u64;
        out.append(&mut self.cached);
        self.done = self.cached_items;
    }
}

impl Slices for MessageList {
    fn fill(&mut self, out: &mut Vec<u8>) -> ApiResult<bool> {
        if self.stage == Stage::Measuring {
            if !self.measure()? {
                return Ok(true);
            }
            self.begin(out);
        }
        let (start, chunk) = (out.len(), self.chunk());
        while self.done < self.entries.len() && out.len() - start < chunk {
            self.item(out)?;
        }
        self.left = self.left.saturating_sub((out.len() - start) as u64);
        if self.done < self.entries.len() {
            return Ok(true);
        }
        if self.left != self.tail.len() as u64 {
            return Err(changed());
        }
        self.left = 0;
        out.append(&mut self.tail);
        Ok(false)
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn left(&self) -> Option<u64> {
        (self.stage == Stage::Writing).then_some(self.left)
    }

    fn memory(&self) -> ListMemory {
        ListMemory::from_entries(&self.entries)
    }
}

/// The error for an item whose length differs from the measured one.
fn changed() -> ApiError {
    ApiError::internal("the items of a list changed while they were encoded")
}
