//! The cells of a row as cacheable JSON, independent of the current time.

use jiff::Timestamp;

use super::{Cell, Completion, cells};
use crate::age;
use crate::json::{encode_text, encode_value};
use crate::resource::object::Object;

/// Bytes of a gap: its offset, and the start of the age that is inserted there.
const GAP: usize = size_of::<u64>() + size_of::<i64>();

/// The JSON of all cells of a row and of its conditions, with gaps for ages. It can be cached as long as the object
/// does not change.
///
/// Encoding: the number of gaps, the offset and start in seconds since 1970 of each gap, and the text; integers are
/// little-endian.
#[derive(Clone, Copy, Debug)]
pub struct PrintedCells<'b> {
    gaps: &'b [u8],
    text: &'b [u8],
}

impl<'b> PrintedCells<'b> {
    /// Prints the cells and the completion condition of `object`; [`PrintedCells::read`] reads the result.
    #[must_use]
    pub fn of(object: &dyn Object) -> Vec<u8> {
        let mut out = Self::encode(&cells(object));
        if let Some(completion) = object.resource().extensions.hooks.completion(object) {
            write_condition(completion, &mut out);
        }
        out
    }

    /// Prints `cells`; [`PrintedCells::read`] reads the result.
    #[must_use]
    pub fn encode(cells: &[Cell]) -> Vec<u8> {
        let (mut gaps, mut text) = (Vec::new(), vec![b'[']);
        for (index, cell) in cells.iter().enumerate() {
            if index > 0 {
                text.push(b',');
            }
            if let Some((place, since)) = write(cell, &mut text) {
                gaps.push((place as u64, since.as_second()));
            }
        }
        text.push(b']');
        let mut out = Vec::with_capacity(size_of::<u64>() + gaps.len() * GAP + text.len());
        out.extend_from_slice(&(gaps.len() as u64).to_le_bytes());
        for (place, second) in gaps {
            out.extend_from_slice(&place.to_le_bytes());
            out.extend_from_slice(&second.to_le_bytes());
        }
        out.extend_from_slice(&text);
        out
    }

    /// Reads the output of [`PrintedCells::encode`]; `None` if the bytes are something else.
    #[must_use]
    pub fn read(bytes: &'b [u8]) -> Option<Self> {
        let (count, rest) = bytes.split_first_chunk()?;
        let length = GAP.checked_mul(usize::try_from(u64::from_le_bytes(*count)).ok()?)?;
        let (gaps, text) = rest.split_at_checked(length)?;
        Some(Self { gaps, text })
    }

    /// Appends the cells with ages relative to `now`, in seconds since 1970.
    pub fn write(self, now: i64, out: &mut Vec<u8>) {
        let mut written = 0;
        for (place, second) in self.gaps() {
            out.extend_from_slice(&self.text[written..place]);
            out.extend_from_slice(age::format(now - second).as_bytes());
            written = place;
        }
        out.extend_from_slice(&self.text[written..]);
    }

    /// Returns the offsets and starts of the gaps; offsets ascend and are within the text.
    fn gaps(self) -> impl Iterator<Item = (usize, i64)> {
        let (gaps, _) = self.gaps.as_chunks::<GAP>();
        let mut last = 0;
        gaps.iter().filter_map(move |gap| {
            let (place, second) = gap.split_first_chunk()?;
            let place = usize::try_from(u64::from_le_bytes(*place)).ok()?;
            last = place.clamp(last, self.text.len());
            Some((last, i64::from_le_bytes(*second.first_chunk()?)))
        })
    }
}

/// Appends the only condition that rows have.
fn write_condition(Completion { reason, message }: Completion, out: &mut Vec<u8>) {
    out.extend_from_slice(br#","conditions":[{"type":"Completed","status":"True","reason":"#);
    encode_text(reason, out);
    out.extend_from_slice(br#","message":"#);
    encode_text(message, out);
    out.extend_from_slice(b"}]");
}

/// Appends a cell; returns the offset and start of its age, if it has one.
fn write(cell: &Cell, out: &mut Vec<u8>) -> Option<(usize, Timestamp)> {
    match cell {
        Cell::Null => out.extend_from_slice(b"null"),
        Cell::Text(text) => encode_text(text, out),
        Cell::Integer(number) => encode_value(&(*number).into(), out),
        Cell::Number(number) => encode_value(&(*number).into(), out),
        Cell::Bool(value) => encode_value(&(*value).into(), out),
        Cell::Aged { before, since, after } => {
            encode_text(before, out);
            // The age and the text after it are inserted before the closing quote.
            out.pop();
            let place = out.len();
            let start = out.len();
            encode_text(after, out);
            out.remove(start);
            return Some((place, *since));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(cells: &[Cell], now: i64) -> String {
        let bytes = PrintedCells::encode(cells);
        let mut out = Vec::new();
        PrintedCells::read(&bytes)
            .expect("what was printed")
            .write(now, &mut out);
        String::from_utf8(out).expect("JSON")
    }

    fn aged(before: &str, second: i64, after: &'static str) -> Cell {
        Cell::Aged {
            before: before.to_owned(),
            since: Timestamp::from_second(second).expect("a time"),
            after,
        }
    }

    #[test]
    fn ages_are_those_of_the_moment() {
        let cells = [
            aged("", 1_000, ""),
            Cell::Text("a\"b".to_owned()),
            aged("\"3 (", 700, " ago)\""),
            Cell::Null,
        ];
        assert_eq!(printed(&cells, 1_005), r#"["5s","a\"b","\"3 (5m5s ago)\"",null]"#);
        assert_eq!(printed(&cells, 2_000), r#"["16m","a\"b","\"3 (21m ago)\"",null]"#);
    }

    #[test]
    fn there_may_be_no_ages_and_no_cells() {
        assert_eq!(
            printed(&[Cell::Integer(-1), Cell::Number(0.5), Cell::Bool(true)], 0),
            "[-1,0.5,true]"
        );
        assert_eq!(printed(&[], 0), "[]");
    }

    #[test]
    fn a_condition_follows_the_cells() {
        let mut bytes = PrintedCells::encode(&[Cell::Bool(true)]);
        let completion = Completion {
            reason: "Failed",
            message: "It failed.",
        };
        write_condition(completion, &mut bytes);
        let mut out = Vec::new();
        PrintedCells::read(&bytes).expect("what was printed").write(0, &mut out);
        let row = format!(r#"{{"cells":{}}}"#, String::from_utf8(out).expect("JSON"));
        let row: serde_json::Value = serde_json::from_str(&row).expect("JSON");
        let condition = &row["conditions"][0];
        assert_eq!(condition["reason"], "Failed");
        assert_eq!(condition["type"], "Completed");
    }

    #[test]
    fn other_bytes_do_no_harm() {
        for bytes in [&b""[..], b"\x01\0\0\0\0\0\0\0", b"\xff\xff\xff\xff\xff\xff\xff\xff[]"] {
            assert!(PrintedCells::read(bytes).is_none());
        }
        let mut strange = 2_u64.to_le_bytes().to_vec();
        strange.extend([0xff; 2 * GAP]);
        strange.extend(b"[]");
        let mut out = Vec::new();
        PrintedCells::read(&strange).expect("enough bytes").write(0, &mut out);
        assert!(out.starts_with(b"[]"), "{out:?}");
    }
}
