//! Transcodes stored JSON to protobuf without decoding the object.

use std::ops::Range;

use planesmith_wire::duration::Duration;
use planesmith_wire::go_base64;
use planesmith_wire::int_or_string::IntOrString;
use planesmith_wire::json::Scan;
use planesmith_wire::micro_time::MicroTime;
use planesmith_wire::protobuf::{WireType, write_bytes, write_int, write_tag, write_varint};
use planesmith_wire::quantity::Quantity;
use planesmith_wire::raw::{AnyJson, FieldsV1, RawExtension};
use planesmith_wire::scalar::{ScalarCodec, Token};
use planesmith_wire::time::Time;

use super::is_repeated;
use crate::facts::{FieldFacts, ScalarFacts, StructFacts, TypeFacts};
use crate::value::Shape;

/// The maximum nesting depth of values: the walk recurses, so this bounds the stack.
const MAX_DEPTH: usize = 200;

/// Appends the message of the object in `json`: the result of [`json::decode`](crate::json::decode) and
/// [`encode`](super::encode) at a tenth of the cost. `json` is the output of [`json::encode`](crate::json::encode) for
/// a struct with these `facts`.
///
/// Returns false, and appends nothing, if `json` has another layout or contains a type that needs a decoded object; the
/// caller must decode it then.
#[must_use]
pub fn transcode(json: &[u8], facts: &'static StructFacts, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let mut walk = Walk {
        scan: Scan::new(json),
        out,
        marks: Vec::with_capacity(64),
        parts: Vec::new(),
        sorted: Vec::new(),
        depth: 0,
    };
    let done = walk.outermost(facts).is_some() && walk.scan.at() == json.len();
    if !done {
        out.truncate(start);
    }
    done
}

struct Walk<'a> {
    scan: Scan<'a>,
    out: &'a mut Vec<u8>,
    /// Number and start of each field written so far, of all open structs.
    marks: Vec<(u32, usize)>,
    /// Number and range of each field that is being sorted.
    parts: Vec<(u32, Range<usize>)>,
    /// Buffer for sorting fields.
    sorted: Vec<u8>,
    depth: usize,
}

/// `None` means that the JSON must be decoded.
type Done = Option<()>;

impl Walk<'_> {
    fn outermost(&mut self, facts: &'static StructFacts) -> Done {
        let mut more = self.scan.enter(b'{', b'}')?;
        if let Some(meta) = facts.type_meta {
            for (name, value) in [("kind", meta.kind), ("apiVersion", meta.api_version)] {
                if !value.is_empty() {
                    let is_expected = more && self.scan.key(name) && self.scan.text()? == value.as_bytes();
                    more = is_expected.then(|| self.scan.another(b'}'))??;
                }
            }
        }
        match self.fields(facts, more)? {
            true => None,
            false => Some(()),
        }
    }

    fn object(&mut self, facts: &'static StructFacts) -> Done {
        let more = self.scan.enter(b'{', b'}')?;
        match self.fields(facts, more)? {
            true => None,
            false => Some(()),
        }
    }

    /// Writes the fields of a struct in the order of their numbers. `more` is true if a key comes next. Returns true if
    /// further keys follow that do not belong to this struct.
    fn fields(&mut self, facts: &'static StructFacts, mut more: bool) -> Option<bool> {
        let (first, mut last, mut is_sorted) = (self.marks.len(), 0, true);
        for field in facts.fields {
            let start = self.out.len();
            if field.inline {
                let TypeFacts::Struct(inner) = &field.ty else {
                    return None;
                };
                let inner = inner();
                let message = self.begin(field.proto, is_wide(inner));
                more = self.fields(inner, more)?;
                self.end(message);
                if field.proto == 0 {
                    self.out.truncate(start);
                }
            } else if more && self.scan.key(field.name) {
                self.field(field)?;
                more = self.scan.another(b'}')?;
            } else if !is_left_out(&field.ty) {
                self.absent(field)?;
            }
            if self.out.len() > start {
                is_sorted &= field.proto > last;
                last = field.proto;
                self.marks.push((field.proto, start));
            }
        }
        if !is_sorted {
            self.sort(first);
        }
        self.marks.truncate(first);
        Some(more)
    }

    /// Sorts the fields of a struct, whose marks start at `first`, by number.
    fn sort(&mut self, first: usize) {
        let marks = &self.marks[first..];
        let (mut highest, mut least_late) = (0, u32::MAX);
        for (number, _) in marks {
            if *number < highest {
                least_late = least_late.min(*number);
            }
            highest = highest.max(*number);
        }
        // Fields before the first one with a larger number than a later one are not moved.
        let Some(from) = marks.iter().position(|(number, _)| *number > least_late) else {
            return;
        };
        let (marks, end) = (&marks[from..], self.out.len());
        let ends = marks.iter().skip(1).map(|(_, start)| *start).chain([end]);
        let parts = marks.iter().zip(ends);
        self.parts.clear();
        self.parts
            .extend(parts.map(|((number, start), end)| (*number, *start..end)));
        self.parts.sort_unstable_by_key(|(number, _)| *number);
        self.sorted.clear();
        for (_, part) in &self.parts {
            self.sorted.extend_from_slice(&self.out[part.clone()]);
        }
        self.out[marks[0].1..end].copy_from_slice(&self.sorted);
    }

    /// Writes the field of the next value.
    fn field(&mut self, field: &'static FieldFacts) -> Done {
        let number = field.proto;
        if number == 0 {
            return self.scan.value().map(drop);
        }
        if self.scan.pass(b"null") {
            return self.absent(field);
        }
        match field.ty.present() {
            TypeFacts::List(element) if field.is_optional() && !is_repeated(&field.ty) => {
                let message = self.begin(number, false);
                self.list(1, element)?;
                self.end(message);
                Some(())
            }
            TypeFacts::List(element) => self.list(number, element),
            TypeFacts::Map(value) => self.map(number, value),
            TypeFacts::Bytes => {
                let bytes = self.bytes()?;
                if !bytes.is_empty() || field.is_optional() {
                    write_bytes(self.out, number, &bytes);
                }
                Some(())
            }
            other => self.single(number, other),
        }
    }

    /// Writes an absent field: plain values and structs are written nevertheless.
    fn absent(&mut self, field: &'static FieldFacts) -> Done {
        let number = field.proto;
        if number == 0 {
            return Some(());
        }
        match &field.ty {
            TypeFacts::Bool | TypeFacts::Int32 | TypeFacts::Int64 => write_int(self.out, number, 0),
            TypeFacts::Double => self.double(number, 0.0),
            TypeFacts::String => write_bytes(self.out, number, b""),
            TypeFacts::Scalar(facts) => {
                let message = self.begin(number, false);
                self.scalar(facts, Token::Null)?;
                self.end(message);
            }
            TypeFacts::Struct(inner) => {
                let message = self.begin(number, false);
                self.fields(inner(), false)?;
                self.end(message);
            }
            TypeFacts::Optional(_) | TypeFacts::List(_) | TypeFacts::Map(_) | TypeFacts::Bytes => {}
        }
        Some(())
    }

    /// Writes the next value, which is not part of a list.
    fn single(&mut self, number: u32, ty: &'static TypeFacts) -> Done {
        match ty {
            TypeFacts::Bool => match self.scan.word()? {
                "true" => write_int(self.out, number, 1),
                "false" => write_int(self.out, number, 0),
                _ => return None,
            },
            TypeFacts::Int32 => write_int(self.out, number, self.scan.word()?.parse::<i32>().ok()?.into()),
            TypeFacts::Int64 => write_int(self.out, number, self.scan.word()?.parse().ok()?),
            TypeFacts::Double => {
                let value = self.scan.word()?.parse().ok()?;
                self.double(number, value);
            }
            TypeFacts::String => {
                let text = self.scan.text()?;
                write_bytes(self.out, number, &text);
            }
            TypeFacts::Bytes => {
                let bytes = self.bytes()?;
                write_bytes(self.out, number, &bytes);
            }
            TypeFacts::Optional(_) => return None,
            _ => {
                self.depth += 1;
                let is_wide = match ty {
                    TypeFacts::Struct(inner) => is_wide(inner()),
                    TypeFacts::Scalar(facts) => is_raw(facts),
                    _ => false,
                };
                let message = self.begin(number, is_wide);
                match ty {
                    _ if self.depth > MAX_DEPTH => return None,
                    TypeFacts::Struct(inner) => self.object(inner())?,
                    TypeFacts::List(element) => self.list(1, element)?,
                    TypeFacts::Map(value) => self.map(1, value)?,
                    TypeFacts::Scalar(facts) => self.scalar_value(facts)?,
                    _ => return None,
                }
                self.end(message);
                self.depth -= 1;
            }
        }
        Some(())
    }

    fn double(&mut self, number: u32, value: f64) {
        write_tag(self.out, number, WireType::Fixed64);
        self.out.extend_from_slice(&value.to_le_bytes());
    }

    fn bytes(&mut self) -> Option<Vec<u8>> {
        let text = self.scan.text()?;
        go_base64::decode(str::from_utf8(&text).ok()?).ok()
    }

    fn list(&mut self, number: u32, element: &'static TypeFacts) -> Done {
        let mut more = self.scan.enter(b'[', b']')?;
        while more {
            self.single(number, element)?;
            more = self.scan.another(b']')?;
        }
        Some(())
    }

    fn map(&mut self, number: u32, value: &'static TypeFacts) -> Done {
        let mut more = self.scan.enter(b'{', b'}')?;
        let mut last = None;
        while more {
            let key = self.scan.text()?;
            // Entries are written in the order of their keys, each once.
            if !self.scan.pass(b":") || last.as_ref().is_some_and(|last| *last >= key) {
                return None;
            }
            let message = self.begin(number, false);
            write_bytes(self.out, 1, &key);
            self.single(2, value)?;
            self.end(message);
            last = Some(key);
            more = self.scan.another(b'}')?;
        }
        Some(())
    }

    /// Writes the payload of the next leaf.
    fn scalar_value(&mut self, facts: &'static ScalarFacts) -> Done {
        if is_raw(facts) {
            let json = self.scan.value()?;
            if json != b"null" {
                write_bytes(self.out, 1, json);
            }
            return Some(());
        }
        if let Some(text) = self.scan.text() {
            if is::<Quantity>(facts) {
                // Stored quantities are canonical, as those in messages are.
                write_bytes(self.out, 1, &text);
                return Some(());
            }
            if is::<Time>(facts)
                && let Some(seconds) = seconds_of(&text)
            {
                write_int(self.out, 1, seconds);
                write_int(self.out, 2, 0);
                return Some(());
            }
            return self.scalar(facts, Token::Str(str::from_utf8(&text).ok()?));
        }
        let digits = self.scan.word()?;
        let is_number = digits.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        is_number.then(|| self.scalar(facts, Token::Number(digits)))?
    }

    /// Writes the payload of the leaf in `token`.
    fn scalar(&mut self, facts: &'static ScalarFacts, token: Token<'_>) -> Done {
        match facts {
            _ if is_raw(facts) => (token == Token::Null).then_some(()),
            _ if is::<Time>(facts) => self.read::<Time>(token),
            _ if is::<Quantity>(facts) => self.read::<Quantity>(token),
            _ if is::<IntOrString>(facts) => self.read::<IntOrString>(token),
            _ if is::<MicroTime>(facts) => self.read::<MicroTime>(token),
            _ if is::<Duration>(facts) => self.read::<Duration>(token),
            _ => None,
        }
    }

    fn read<T: ScalarCodec + Default>(&mut self, token: Token<'_>) -> Done {
        let mut leaf = T::default();
        if token != Token::Null {
            leaf.read_json(token).ok()?;
        }
        leaf.write_proto(self.out);
        Some(())
    }

    /// Begins a message. With `is_wide` its length is expected to take two bytes instead of one.
    #[inline]
    fn begin(&mut self, number: u32, is_wide: bool) -> Message {
        write_tag(self.out, number, WireType::Bytes);
        let digits = 1 + usize::from(is_wide);
        self.out.extend_from_slice(&[0; 2][..digits]);
        Message {
            start: self.out.len(),
            digits,
        }
    }

    /// Ends a message. Its payload moves when its length takes more or fewer bytes than expected.
    #[inline]
    fn end(&mut self, Message { start, digits }: Message) {
        let length = self.out.len() - start;
        match (length, digits) {
            (0..0x80, 1) => self.out[start - 1] = length as u8,
            (0x80..0x4000, 2) => {
                self.out[start - 2] = length as u8 | 0x80;
                self.out[start - 1] = (length >> 7) as u8;
            }
            _ => self.end_elsewhere(start, digits),
        }
    }

    #[cold]
    fn end_elsewhere(&mut self, start: usize, digits: usize) {
        let payload = start..self.out.len();
        let mut prefix = Vec::with_capacity(10);
        write_varint(&mut prefix, payload.len() as u64);
        let (first, end) = (start - digits, start - digits + prefix.len() + payload.len());
        self.out.resize(end.max(payload.end), 0);
        self.out.copy_within(payload, first + prefix.len());
        self.out[first..first + prefix.len()].copy_from_slice(&prefix);
        self.out.truncate(end);
    }
}

/// True if a field of this type is not written when it is absent.
#[inline]
fn is_left_out(ty: &TypeFacts) -> bool {
    matches!(
        ty,
        TypeFacts::Optional(_) | TypeFacts::List(_) | TypeFacts::Map(_) | TypeFacts::Bytes
    )
}

/// An open message.
#[derive(Clone, Copy)]
struct Message {
    /// The first byte of its payload.
    start: usize,
    /// Bytes reserved for its length before the payload.
    digits: usize,
}

/// True if messages of a struct usually take more than 127 bytes.
fn is_wide(facts: &'static StructFacts) -> bool {
    facts.fields.len() >= 7
}

fn is<T: Shape>(facts: &'static ScalarFacts) -> bool {
    matches!(T::TYPE, TypeFacts::Scalar(known) if std::ptr::eq(known, facts))
}

fn is_raw(facts: &'static ScalarFacts) -> bool {
    is::<FieldsV1>(facts) || is::<RawExtension>(facts) || is::<AnyJson>(facts)
}

/// Returns the seconds since 1970 of a time in the usual form; `None` for a time that needs the full parser.
fn seconds_of(text: &[u8]) -> Option<i64> {
    let [
        y1,
        y2,
        y3,
        y4,
        b'-',
        m1,
        m2,
        b'-',
        d1,
        d2,
        b'T',
        h1,
        h2,
        b':',
        n1,
        n2,
        b':',
        s1,
        s2,
        b'Z',
    ] = text
    else {
        return None;
    };
    let number = |digits: &[&u8]| {
        digits.iter().try_fold(0_i64, |value, digit| {
            digit.is_ascii_digit().then(|| value * 10 + i64::from(**digit - b'0'))
        })
    };
    let (year, month, day) = (number(&[y1, y2, y3, y4])?, number(&[m1, m2])?, number(&[d1, d2])?);
    let (hour, minute, second) = (number(&[h1, h2])?, number(&[n1, n2])?, number(&[s1, s2])?);
    // Days that not every month has are left to the parser.
    let is_plain = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=28).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !is_plain {
        return None;
    }
    // Years that start in March have their leap day at the end.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    // From 1 March of the year 0 to 1970.
    Some((days - 719_468) * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_what_the_parser_says() {
        for text in [
            "1970-01-01T00:00:00Z",
            "1999-12-28T23:59:59Z",
            "2000-02-28T01:02:03Z",
            "2000-03-01T00:00:00Z",
            "2024-02-10T10:20:30Z",
            "2026-11-23T08:00:00Z",
            "9999-12-28T23:59:59Z",
        ] {
            let time: Time = text.parse().expect("a time");
            assert_eq!(seconds_of(text.as_bytes()), Some(time.as_second()), "{text}");
        }
        for text in [
            "2024-02-29T00:00:00Z",
            "2024-02-10T10:20:30.5Z",
            "0001-01-01T00:00:00Z",
            "2024-02-1xT10:20:30Z",
        ] {
            assert_eq!(seconds_of(text.as_bytes()), None, "{text}");
        }
    }
}
