//! Fields of messages: tags, varints and lengths.

use std::borrow::Cow;

use super::DecodeError;

/// The layout of the bytes behind a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireType {
    /// An integer in groups of seven bits.
    Varint = 0,
    /// Eight bytes.
    Fixed64 = 1,
    /// A length and as many bytes: text, bytes or a message.
    Bytes = 2,
}

/// Appends the tag of field `number`.
#[inline]
pub fn write_tag(out: &mut Vec<u8>, number: u32, wire_type: WireType) {
    write_varint(out, u64::from(number) << 3 | wire_type as u64);
}

/// Appends a varint.
#[inline]
pub fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends field `number` with an integer; negative ones take ten bytes.
#[inline]
pub fn write_int(out: &mut Vec<u8>, number: u32, value: i64) {
    write_tag(out, number, WireType::Varint);
    write_varint(out, value.cast_unsigned());
}

/// Appends field `number` with text or bytes.
#[inline]
pub fn write_bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    write_tag(out, number, WireType::Bytes);
    write_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends field `number` with a message whose payload `write` appends.
#[inline]
pub fn write_message(out: &mut Vec<u8>, number: u32, write: impl FnOnce(&mut Vec<u8>)) {
    write_tag(out, number, WireType::Bytes);
    let start = out.len();
    // Most messages are short: keep one byte for the length and move the payload when it needs more.
    out.push(0);
    write(out);
    let length = out.len() - start - 1;
    if length < 0x80 {
        out[start] = length as u8;
    } else {
        let mut prefix = Vec::with_capacity(5);
        write_varint(&mut prefix, length as u64);
        out.splice(start..=start, prefix);
    }
}

/// The value of one field, as it lies on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wire<'a> {
    /// The value of a varint.
    Varint(u64),
    /// The bits of eight bytes.
    Fixed64(u64),
    /// The bytes behind a length.
    Bytes(&'a [u8]),
    /// A group or a 32-bit value: Kubernetes has neither, so it only needs passing.
    Other(u8),
}

impl<'a> Wire<'a> {
    fn number(self) -> u8 {
        match self {
            Wire::Varint(_) => 0,
            Wire::Fixed64(_) => 1,
            Wire::Bytes(_) => 2,
            Wire::Other(wire_type) => wire_type,
        }
    }

    /// The bytes; `field` is for the error.
    ///
    /// # Errors
    ///
    /// When the wire type is another one.
    #[inline]
    pub fn bytes(self, field: &str) -> Result<&'a [u8], DecodeError> {
        match self {
            Wire::Bytes(bytes) => Ok(bytes),
            other => Err(other.wrong(field)),
        }
    }

    /// The text; bytes that are not UTF-8 become U+FFFD.
    ///
    /// # Errors
    ///
    /// When the wire type is another one.
    #[inline]
    pub fn text(self, field: &str) -> Result<Cow<'a, str>, DecodeError> {
        self.bytes(field).map(String::from_utf8_lossy)
    }

    /// The integer.
    ///
    /// # Errors
    ///
    /// When the wire type is another one.
    #[inline]
    pub fn int(self, field: &str) -> Result<i64, DecodeError> {
        match self {
            Wire::Varint(value) => Ok(value.cast_signed()),
            other => Err(other.wrong(field)),
        }
    }

    /// The error for a wire type that does not fit the field.
    #[must_use]
    pub fn wrong(self, field: &str) -> DecodeError {
        DecodeError::new(format!("proto: wrong wireType = {} for field {field}", self.number()))
    }
}

/// Walks over the fields of one message.
#[derive(Debug)]
pub struct Fields<'a> {
    rest: &'a [u8],
    message: &'static str,
}

impl<'a> Fields<'a> {
    /// Starts at the first field of `payload`; `message` is the name of the message in errors.
    #[must_use]
    #[inline]
    pub fn new(payload: &'a [u8], message: &'static str) -> Self {
        Fields { rest: payload, message }
    }

    /// The next field's number and value; `None` at the end.
    ///
    /// # Errors
    ///
    /// When the message is cut off or malformed.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator of results would be read past its first error"
    )]
    #[inline]
    pub fn next(&mut self) -> Result<Option<(u32, Wire<'a>)>, DecodeError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = read_varint(&mut self.rest)?;
        let wire_type = (tag & 7) as u8;
        let number = (tag >> 3) as u32 & 0x7FFF_FFFF;
        if wire_type == 4 {
            return Err(DecodeError::new(format!(
                "proto: {}: wiretype end group for non-group",
                self.message
            )));
        }
        if number == 0 {
            return Err(DecodeError::new(format!(
                "proto: {}: illegal tag 0 (wire type {tag})",
                self.message
            )));
        }
        let value = match wire_type {
            0 => Wire::Varint(read_varint(&mut self.rest)?),
            1 => Wire::Fixed64(u64::from_le_bytes(self.fixed()?)),
            2 => Wire::Bytes(read_bytes(&mut self.rest)?),
            3 => {
                self.skip_group()?;
                Wire::Other(3)
            }
            5 => {
                self.fixed::<4>()?;
                Wire::Other(5)
            }
            other => return Err(DecodeError::new(format!("proto: illegal wireType {other}"))),
        };
        Ok(Some((number, value)))
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (head, rest) = self.rest.split_first_chunk().ok_or_else(DecodeError::truncated)?;
        self.rest = rest;
        Ok(*head)
    }

    /// Passes everything up to the end of a group; nested groups are counted, not recursed into.
    fn skip_group(&mut self) -> Result<(), DecodeError> {
        let mut depth = 1_usize;
        while depth > 0 {
            match read_varint(&mut self.rest)? & 7 {
                0 => drop(read_varint(&mut self.rest)?),
                1 => drop(self.fixed::<8>()?),
                2 => {
                    read_bytes(&mut self.rest)?;
                }
                3 => depth += 1,
                4 => depth -= 1,
                5 => drop(self.fixed::<4>()?),
                other => return Err(DecodeError::new(format!("proto: illegal wireType {other}"))),
            }
        }
        Ok(())
    }
}

/// Takes a varint off the front.
///
/// # Errors
///
/// When it is cut off, or longer than ten bytes.
#[inline]
pub fn read_varint(rest: &mut &[u8]) -> Result<u64, DecodeError> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, tail) = rest.split_first().ok_or_else(DecodeError::truncated)?;
        *rest = tail;
        value |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(DecodeError::new("proto: integer overflow".to_owned()))
}

fn read_bytes<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], DecodeError> {
    let length = read_varint(rest)?;
    if length > i64::MAX as u64 {
        return Err(DecodeError::new(
            "proto: negative length found during unmarshaling".to_owned(),
        ));
    }
    let length = usize::try_from(length).map_err(|_| DecodeError::truncated())?;
    let (bytes, tail) = rest.split_at_checked(length).ok_or_else(DecodeError::truncated)?;
    *rest = tail;
    Ok(bytes)
}
