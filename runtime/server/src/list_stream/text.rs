//! Lists in the encodings that are derived from JSON, item by item.

use std::sync::Arc;
use std::vec;

use planesmith_machinery::status::ApiResult;
use planesmith_machinery::{cbor, json, yaml};
use planesmith_store::Entry;

use super::slices::{CHUNK, ListMemory, Slices, unreadable};
use crate::negotiation::{Format, Output};
use crate::offload::Cost;
use crate::response::in_beta;

/// Maximum bytes of objects for one slice.
const SLICE: usize = 256 << 10;
/// Like [`SLICE`], in YAML, which takes ten times as long.
const YAML_SLICE: usize = 16 << 10;

/// Appends the compact JSON of an item.
pub(crate) type WriteItem = Box<dyn FnMut(&Arc<Entry>, &mut Vec<u8>) -> ApiResult<()> + Send>;
/// Returns the number that an item is sorted by.
pub(crate) type NumberOf = Box<dyn FnMut(&Arc<Entry>) -> ApiResult<i64> + Send>;

/// A list whose items are derived from JSON.
pub(crate) struct TextList {
    /// The compact JSON before the items, including the bracket that opens their array.
    pub(crate) head: Vec<u8>,
    /// The compact JSON behind the items.
    pub(crate) tail: Vec<u8>,
    pub(crate) write: WriteItem,
    layout: Layout,
    beta: bool,
    stage: Stage,
    entries: vec::IntoIter<Arc<Entry>>,
    /// Bytes of the remaining entries.
    memory: ListMemory,
    item: Vec<u8>,
}

enum Stage {
    /// Items are sorted first, by their numbers; equal ones keep their order.
    Sorting(NumberOf, Vec<(i64, Arc<Entry>)>),
    Head,
    Items {
        is_first: bool,
    },
}

enum Layout {
    Compact,
    Pretty(json::Indenter),
    /// With the part that follows the items.
    Yaml(Vec<u8>),
    /// With the part that follows the items.
    Cbor(Vec<u8>),
}

impl TextList {
    /// Returns the list of `entries`, which is not empty, in the encoding `output`; each item is what `write` appends.
    /// Items are sorted by their numbers, if a function for these is given.
    pub(crate) fn new(
        output: Output,
        (head, tail): (Vec<u8>, Vec<u8>),
        entries: Vec<Arc<Entry>>,
        write: WriteItem,
        number: Option<NumberOf>,
    ) -> Self {
        let (head, tail) = match output.beta {
            true => (in_beta(&head), in_beta(&tail)),
            false => (head, tail),
        };
        Self {
            head,
            tail,
            write,
            layout: match output.format {
                Format::Json if output.pretty => Layout::Pretty(json::Indenter::default()),
                Format::Json | Format::Protobuf => Layout::Compact,
                Format::Yaml => Layout::Yaml(Vec::new()),
                Format::Cbor => Layout::Cbor(Vec::new()),
            },
            beta: output.beta,
            stage: number.map_or(Stage::Head, |number| Stage::Sorting(number, Vec::new())),
            memory: ListMemory::from_entries(&entries),
            entries: entries.into_iter(),
            item: Vec::new(),
        }
    }

    fn slice(&self) -> usize {
        match self.layout {
            Layout::Yaml(_) => YAML_SLICE,
            Layout::Compact | Layout::Pretty(_) | Layout::Cbor(_) => SLICE,
        }
    }

    /// Reads the numbers of the next items; true once all are sorted.
    fn sort(&mut self) -> ApiResult<bool> {
        let slice = self.slice();
        let Stage::Sorting(number, numbered) = &mut self.stage else {
            return Ok(true);
        };
        let mut seen = 0;
        for entry in self.entries.by_ref() {
            seen += entry.size();
            numbered.push((number(&entry)?, entry));
            if seen >= slice {
                return Ok(false);
            }
        }
        let mut numbered = std::mem::take(numbered);
        numbered.sort_by_key(|(number, _)| *number);
        let sorted: Vec<_> = numbered.into_iter().map(|(_, entry)| entry).collect();
        self.entries = sorted.into_iter();
        self.stage = Stage::Head;
        Ok(true)
    }

    fn write_head(&mut self, out: &mut Vec<u8>) -> ApiResult<()> {
        match &mut self.layout {
            Layout::Compact => out.extend_from_slice(&self.head),
            Layout::Pretty(indenter) => indenter.push(&self.head, out),
            Layout::Yaml(tail) => {
                let (head, behind) = yaml::around_items(&self.head, &self.tail).map_err(unreadable)?;
                out.extend_from_slice(&head);
                *tail = behind;
            }
            Layout::Cbor(tail) => {
                let count = self.entries.len();
                let (head, behind) = cbor::around_items(&self.head, count, &self.tail).map_err(unreadable)?;
                out.extend_from_slice(&head);
                *tail = behind;
            }
        }
        Ok(())
    }

    fn write_item(&mut self, entry: &Arc<Entry>, is_first: bool, out: &mut Vec<u8>) -> ApiResult<()> {
        if let (Layout::Compact, false) = (&self.layout, self.beta) {
            if !is_first {
                out.push(b',');
            }
            return (self.write)(entry, out);
        }
        self.item.clear();
        (self.write)(entry, &mut self.item)?;
        if self.beta {
            self.item = in_beta(&self.item);
        }
        match &mut self.layout {
            Layout::Compact => {
                if !is_first {
                    out.push(b',');
                }
                out.extend_from_slice(&self.item);
            }
            Layout::Pretty(indenter) => {
                if !is_first {
                    indenter.push(b",", out);
                }
                indenter.push(&self.item, out);
            }
            Layout::Yaml(_) => yaml::item_from_json(&self.item, out).map_err(unreadable)?,
            Layout::Cbor(_) => cbor::item_from_json(&self.item, out).map_err(unreadable)?,
        }
        Ok(())
    }

    fn write_tail(&mut self, out: &mut Vec<u8>) {
        match &mut self.layout {
            Layout::Compact => {
                out.extend_from_slice(&self.tail);
                out.push(b'\n');
            }
            Layout::Pretty(indenter) => indenter.push(&self.tail, out),
            Layout::Yaml(tail) | Layout::Cbor(tail) => out.append(tail),
        }
    }
}

impl Slices for TextList {
    fn fill(&mut self, out: &mut Vec<u8>) -> ApiResult<bool> {
        if !self.sort()? {
            return Ok(true);
        }
        if let Stage::Head = self.stage {
            self.write_head(out)?;
            self.stage = Stage::Items { is_first: true };
        }
        let (enough, slice) = (out.len() + CHUNK, self.slice());
        let mut seen = 0;
        while let Some(entry) = self.entries.next() {
            let is_first = matches!(
                std::mem::replace(&mut self.stage, Stage::Items { is_first: false }),
                Stage::Items { is_first: true }
            );
            self.write_item(&entry, is_first, out)?;
            seen += entry.size();
            self.memory = self.memory.without(&entry);
            if out.len() >= enough || seen >= slice {
                return Ok(true);
            }
        }
        self.write_tail(out);
        Ok(false)
    }

    fn cost(&self) -> Cost {
        match self.layout {
            Layout::Yaml(_) => Cost::of_yaml(self.slice().min(self.memory.all())),
            Layout::Compact | Layout::Pretty(_) | Layout::Cbor(_) => {
                Cost::of_other_form(self.slice().min(self.memory.all()))
            }
        }
    }

    fn left(&self) -> Option<u64> {
        None
    }

    fn memory(&self) -> ListMemory {
        self.memory
    }
}
