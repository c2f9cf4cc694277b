//! Transcodes stored JSON to protobuf without decoding the object.

mod names;
mod output;
mod plan;
mod seconds;
mod sorter;

use std::cell::RefCell;
use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};

use planesmith_wire::duration::Duration;
use planesmith_wire::go_base64;
use planesmith_wire::json::Scan;
use planesmith_wire::micro_time::MicroTime;
use planesmith_wire::protobuf::WireType;
use planesmith_wire::scalar::{ScalarCodec, Token};
use planesmith_wire::time::Time;

use crate::facts::StructFacts;
use output::{Done, Output, SHORT, digits_of};
use plan::{FieldPlan, Link, Operation, StructPlan, ValuePlan, plan_of};
use seconds::seconds_of;
use sorter::Sorter;

/// The maximum nesting depth of values: the walk recurses, so this bounds the stack.
const MAX_DEPTH: usize = 200;

/// The tag of the text in a quantity.
const QUANTITY: u32 = 1 << 3 | WireType::Bytes as u32;
/// The tag of the JSON in a raw value.
const RAW: u32 = 1 << 3 | WireType::Bytes as u32;
/// The tag of the key in an entry of a map.
const KEY: u32 = 1 << 3 | WireType::Bytes as u32;
/// The tag of the seconds in a time.
const SECONDS: u32 = 1 << 3 | WireType::Varint as u32;
/// The tag of the nanoseconds in a time.
const NANOS: u32 = 2 << 3 | WireType::Varint as u32;

/// The tag of the kind of an int-or-string, which is 1 for a text.
const KIND: u32 = 1 << 3 | WireType::Varint as u32;
/// The tag of the number of an int-or-string.
const NUMBER: u32 = 2 << 3 | WireType::Varint as u32;
/// The tag of the text of an int-or-string.
const TEXT: u32 = 3 << 3 | WireType::Bytes as u32;

/// Converts the stored JSON of one kind to messages.
#[derive(Clone, Copy)]
pub struct Transcoder {
    /// `None` if all objects must be decoded.
    plan: Option<&'static StructPlan>,
}

impl Transcoder {
    /// Returns the transcoder for structs with these `facts`.
    #[must_use]
    pub fn new(facts: &'static StructFacts) -> Self {
        Self { plan: plan_of(facts) }
    }

    /// Appends the message of the object in `json`: the result of [`json::decode`](crate::json::decode) and
    /// [`encode`](super::encode) at a small part of the cost. `json` is the output of
    /// [`json::encode`](crate::json::encode) for a struct with the facts.
    ///
    /// Returns false, and appends nothing, if `json` has another layout or contains a type that needs a decoded object;
    /// the caller must decode it then.
    #[must_use]
    pub fn transcode(self, json: &[u8], out: &mut Vec<u8>) -> bool {
        let Some(plan) = self.plan else { return false };
        SCRATCH.with_borrow_mut(|scratch| {
            // Few messages are longer than the JSON.
            let mut capacity = json.len() + json.len() / 8 + 256;
            loop {
                let Scratch { buffer, sorter } = scratch;
                if buffer.len() < capacity {
                    buffer.resize(capacity, 0);
                }
                let mut walk = Walk {
                    scan: Scan::new(json),
                    out: Output::new(buffer),
                    sorter,
                    depth: 0,
                };
                let done = walk.outermost(plan).is_some() && walk.scan.at() == json.len();
                let (length, is_full) = (walk.out.len(), walk.out.is_full());
                if done {
                    out.extend_from_slice(&buffer[..length]);
                }
                sorter.reset();
                if done || !is_full {
                    scratch.shrink();
                    return done;
                }
                capacity = 2 * buffer.len();
            }
        })
    }
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = const { RefCell::new(Scratch::new()) };
}

/// The memory of a transcoder, which a thread uses again.
struct Scratch {
    buffer: Vec<u8>,
    sorter: Sorter,
}

impl Scratch {
    /// Bytes of the buffer that a thread keeps. Larger objects are rare.
    const MAX_RETAINED: usize = 128 << 10;

    const fn new() -> Self {
        Self {
            buffer: Vec::new(),
            sorter: Sorter::new(),
        }
    }

    /// Frees the memory that a large object needed.
    fn shrink(&mut self) {
        if self.buffer.len() > Self::MAX_RETAINED {
            *self = Self::new();
        }
    }
}

impl std::fmt::Debug for Transcoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transcoder").finish_non_exhaustive()
    }
}

struct Walk<'a> {
    scan: Scan<'a>,
    out: Output<'a>,
    sorter: &'a mut Sorter,
    depth: usize,
}

/// A field whose key came next.
struct Found {
    /// The position of the field.
    index: usize,
    /// The position in the struct that is inlined there, if the key was passed.
    within: Option<usize>,
}

impl Walk<'_> {
    fn outermost(&mut self, plan: &'static StructPlan) -> Done {
        let more = match &plan.head {
            Some(head) if self.scan.pass(head) => self.scan.another(b'}')?,
            Some(_) => return None,
            None => self.scan.enter(b'{', b'}')?,
        };
        self.all_fields(plan, more)
    }

    #[inline]
    fn object(&mut self, plan: &'static StructPlan) -> Done {
        let more = self.scan.enter(b'{', b'}')?;
        self.all_fields(plan, more)
    }

    #[inline]
    fn all_fields(&mut self, plan: &'static StructPlan, more: bool) -> Done {
        match self.fields(plan, more, None)? {
            true => None,
            false => Some(()),
        }
    }

    /// Writes the fields of a struct in the order of their numbers. `more` is true if a key comes next, or the key of the
    /// field `passed` was passed. Returns true if further keys follow that do not belong to this struct.
    fn fields(&mut self, plan: &'static StructPlan, mut more: bool, mut passed: Option<usize>) -> Option<bool> {
        if !more {
            self.out.bytes(&plan.empty)?;
            return Some(false);
        }
        let first = self.sorter.begin();
        // The field behind the last one that was written.
        let mut next = 0;
        let mut likely = &plan.first;
        while more {
            let mut within = None;
            let index = match passed.take() {
                Some(index) => index,
                None => {
                    let guess = usize::from(likely.load(Ordering::Relaxed));
                    match guess >= next && self.scan.pass_key(&plan.fields.get(guess)?.name) {
                        true => guess,
                        false => match self.find(plan, likely)? {
                            Some(found) => {
                                within = found.within;
                                found.index
                            }
                            None => break,
                        },
                    }
                }
            };
            if index < next {
                return None;
            }
            self.absent(plan, next..index)?;
            next = index + 1;
            let field = plan.fields.get(index)?;
            likely = &field.next;
            let start = self.out.len();
            more = match &field.value.operation {
                Operation::Inline(link) => self.inlined(field, link, within)?,
                Operation::Text if self.scan.next_byte() == Some(b'"') => {
                    self.text(field.value.tag)?;
                    self.scan.another(b'}')?
                }
                _ => {
                    match self.scan.next_byte() == Some(b'n') && self.scan.pass(b"null") {
                        true => self.null(plan, index)?,
                        false => self.value(&field.value)?,
                    }
                    self.scan.another(b'}')?
                }
            };
            if !plan.is_sorted && self.out.len() > start {
                self.sorter.mark(field.number, start);
            }
        }
        self.absent(plan, next..plan.fields.len())?;
        if !plan.is_sorted {
            self.sorter.end(first, &mut self.out)?;
        }
        Some(more)
    }

    /// Finds the field whose key comes next, and passes the key. `None` within if the struct does not have the field.
    #[inline(never)]
    fn find(&mut self, plan: &'static StructPlan, likely: &'static AtomicU16) -> Option<Option<Found>> {
        let name = self.scan.name()?;
        let Some(index) = plan.names.find(name) else {
            return Some(None);
        };
        let within = match &plan.fields.get(index)?.value.operation {
            Operation::Inline(link) => {
                let inner = link.plan()?;
                let within = inner.names.find(name)?;
                if matches!(inner.fields.get(within)?.value.operation, Operation::Inline(_)) {
                    // The inlined struct finds it again.
                    return Some(Some(Found { index, within: None }));
                }
                Some(within)
            }
            _ => {
                likely.store(u16::try_from(index).ok()?, Ordering::Relaxed);
                None
            }
        };
        self.scan.pass_name(name);
        Some(Some(Found { index, within }))
    }

    /// Writes a field that is null in the JSON.
    fn null(&mut self, plan: &'static StructPlan, index: usize) -> Done {
        let place = plan.place_of_absent(index..index + 1);
        self.out.bytes(plan.absent(place.start).get(..place.len())?)
    }

    /// Writes fields that the JSON does not have.
    #[inline]
    fn absent(&mut self, plan: &'static StructPlan, range: Range<usize>) -> Done {
        let place = plan.place_of_absent(range.clone());
        if place.is_empty() {
            return Some(());
        }
        if !plan.is_sorted {
            let mut at = self.out.len();
            for index in range {
                let length = plan.place_of_absent(index..index + 1).len();
                if length > 0 {
                    self.sorter.mark(plan.fields[index].number, at);
                    at += length;
                }
            }
        }
        let bytes = plan.absent(place.start);
        match bytes.first_chunk() {
            Some(bytes) if place.len() <= SHORT => self.out.short(place.len(), bytes),
            _ => self.out.bytes(bytes.get(..place.len())?),
        }
    }

    /// Writes a struct whose fields come next, behind the key of the field `passed`. Returns true if further keys follow.
    fn inlined(&mut self, field: &'static FieldPlan, link: &'static Link, passed: Option<usize>) -> Option<bool> {
        let plan = link.plan()?;
        let start = self.out.len();
        let nested = self.out.begin(field.value.tag, plan.is_wide)?;
        let more = self.fields(plan, true, passed)?;
        self.out.end(nested)?;
        if field.number == 0 {
            self.out.truncate(start);
        }
        Some(more)
    }

    /// Writes the next value.
    fn value(&mut self, plan: &'static ValuePlan) -> Done {
        let tag = plan.tag;
        match &plan.operation {
            Operation::Text => self.text(tag),
            Operation::Bool => {
                let value = self.scan.pass(b"true");
                let is_bool = value || self.scan.pass(b"false");
                is_bool.then(|| self.out.int(tag, value.into()))?
            }
            Operation::Int32 => {
                let value = i32::try_from(self.scan.int()?).ok()?;
                self.out.int(tag, value.into())
            }
            Operation::Int64 => {
                let value = self.scan.int()?;
                self.out.int(tag, value)
            }
            Operation::Double => {
                let value: f64 = self.scan.word()?.parse().ok()?;
                self.out.varint(tag.into())?;
                self.out.bytes(&value.to_le_bytes())
            }
            Operation::Bytes { is_optional } => {
                let text = self.scan.text()?;
                let bytes = go_base64::decode(str::from_utf8(&text).ok()?).ok()?;
                match bytes.is_empty() && !is_optional {
                    true => Some(()),
                    false => self.out.field(tag, &bytes),
                }
            }
            Operation::Skip => self.scan.value().map(drop),
            Operation::Raw => self.raw(tag),
            Operation::Quantity => {
                let nested = self.out.begin(tag, false)?;
                // Stored quantities are canonical, as those in messages are.
                self.text(QUANTITY)?;
                self.out.end(nested)
            }
            Operation::Time => self.time(tag),
            Operation::IntOrString => self.int_or_string(tag),
            Operation::MicroTime => self.scalar::<MicroTime>(tag),
            Operation::Duration => self.scalar::<Duration>(tag),
            Operation::Struct(link) => {
                let plan = link.plan()?;
                self.deeper()?;
                let nested = self.out.begin(tag, plan.is_wide)?;
                self.object(plan)?;
                self.depth -= 1;
                self.out.end(nested)
            }
            Operation::Repeated(element) => {
                let mut more = self.scan.enter(b'[', b']')?;
                while more {
                    self.value(element)?;
                    more = self.scan.another(b']')?;
                }
                Some(())
            }
            Operation::Entries(value) => self.entries(tag, value),
            Operation::Wrapped(inner) => {
                self.deeper()?;
                let nested = self.out.begin(tag, false)?;
                self.value(inner)?;
                self.depth -= 1;
                self.out.end(nested)
            }
            Operation::Inline(_) | Operation::Unsupported => None,
        }
    }

    fn deeper(&mut self) -> Done {
        self.depth += 1;
        (self.depth <= MAX_DEPTH).then_some(())
    }

    fn entries(&mut self, tag: u32, value: &'static ValuePlan) -> Done {
        let mut more = self.scan.enter(b'{', b'}')?;
        let mut last = None;
        while more {
            let key = self.scan.text()?;
            // Entries are written in the order of their keys, each once.
            if !self.scan.pass(b":") || last.as_ref().is_some_and(|last| *last >= key) {
                return None;
            }
            let nested = self.out.begin(tag, false)?;
            self.out.field(KEY, &key)?;
            self.value(value)?;
            self.out.end(nested)?;
            last = Some(key);
            more = self.scan.another(b'}')?;
        }
        Some(())
    }

    /// Writes the next text.
    #[inline]
    fn text(&mut self, tag: u32) -> Done {
        match self.scan.short_text() {
            Some((length, bytes)) => self.out.short_field(tag, length, bytes),
            None => self.long_text(tag),
        }
    }

    #[inline(never)]
    fn long_text(&mut self, tag: u32) -> Done {
        let text = self.scan.text()?;
        self.out.field(tag, &text)
    }

    /// Writes the next value as it is, within a message.
    fn raw(&mut self, tag: u32) -> Done {
        let json = self.scan.value()?;
        self.out.varint(tag.into())?;
        if json == b"null" {
            return self.out.varint(0);
        }
        let length = 1 + digits_of(json.len() as u64) + json.len();
        self.out.varint(length as u64)?;
        self.out.field(RAW, json)
    }

    fn time(&mut self, tag: u32) -> Done {
        let text = self.scan.text()?;
        let Some(seconds) = seconds_of(&text) else {
            return self.token::<Time>(tag, Token::Str(str::from_utf8(&text).ok()?));
        };
        let nested = self.out.begin(tag, false)?;
        self.out.int(SECONDS, seconds)?;
        self.out.int(NANOS, 0)?;
        self.out.end(nested)
    }

    fn int_or_string(&mut self, tag: u32) -> Done {
        let is_text = self.scan.next_byte()? == b'"';
        let number = match is_text {
            true => 0,
            false => i32::try_from(self.scan.int()?).ok()?,
        };
        let nested = self.out.begin(tag, false)?;
        self.out.int(KIND, is_text.into())?;
        self.out.int(NUMBER, number.into())?;
        match is_text {
            true => self.text(TEXT)?,
            false => self.out.field(TEXT, b"")?,
        }
        self.out.end(nested)
    }

    /// Writes the next leaf.
    fn scalar<T: ScalarCodec + Default>(&mut self, tag: u32) -> Done {
        if let Some(text) = self.scan.text() {
            return self.token::<T>(tag, Token::Str(str::from_utf8(&text).ok()?));
        }
        let digits = self.scan.word()?;
        let is_number = digits.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        is_number.then(|| self.token::<T>(tag, Token::Number(digits)))?
    }

    fn token<T: ScalarCodec + Default>(&mut self, tag: u32, token: Token<'_>) -> Done {
        let mut leaf = T::default();
        leaf.read_json(token).ok()?;
        let mut payload = Vec::with_capacity(32);
        leaf.write_proto(&mut payload);
        self.out.field(tag, &payload)
    }
}

#[cfg(test)]
mod tests;
