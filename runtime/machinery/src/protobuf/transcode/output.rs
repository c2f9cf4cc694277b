//! The message that is being written.

/// Bytes that are copied at once; more than most texts have.
pub(super) const SHORT: usize = 32;
/// The spare for a short text with its tag and length.
const SHORT_FIELD: usize = SHORT + 16;

/// A message in a buffer of fixed size.
pub(super) struct Output<'a> {
    buffer: &'a mut [u8],
    at: usize,
    /// True if the buffer is too small for the message.
    is_full: bool,
}

/// An open message within the message.
#[derive(Clone, Copy)]
pub(super) struct Nested {
    /// The first byte of its payload.
    start: usize,
    /// Bytes reserved for its length before the payload.
    digits: usize,
}

/// `None` means that the message cannot be written.
pub(super) type Done = Option<()>;

impl<'a> Output<'a> {
    pub(super) fn new(buffer: &'a mut [u8]) -> Self {
        Self {
            buffer,
            at: 0,
            is_full: false,
        }
    }

    /// Returns the number of bytes that are written.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.at
    }

    /// True if the buffer is too small for the message.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Drops all bytes behind the first `length` ones.
    pub(super) fn truncate(&mut self, length: usize) {
        self.at = self.at.min(length);
    }

    /// Returns the written bytes from `start` on.
    pub(super) fn written(&mut self, start: usize) -> &mut [u8] {
        self.buffer.get_mut(start..self.at).unwrap_or_default()
    }

    #[inline]
    fn spare(&mut self) -> Option<&mut [u8; SHORT_FIELD]> {
        let spare = self.buffer.get_mut(self.at..).and_then(<[u8]>::first_chunk_mut);
        if spare.is_none() {
            self.is_full = true;
        }
        spare
    }

    /// Appends the first `length` ones of `bytes`, which are at most [`SHORT`].
    #[inline]
    pub(super) fn short(&mut self, length: usize, bytes: &[u8; SHORT]) -> Done {
        let (spare, _) = self.spare()?.split_first_chunk_mut()?;
        *spare = *bytes;
        self.at += length;
        Some(())
    }

    /// Appends `bytes`.
    #[inline]
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Done {
        match self.buffer.get_mut(self.at..self.at + bytes.len()) {
            Some(spare) => spare.copy_from_slice(bytes),
            None => {
                self.is_full = true;
                return None;
            }
        }
        self.at += bytes.len();
        Some(())
    }

    /// Appends a varint.
    #[inline]
    pub(super) fn varint(&mut self, mut value: u64) -> Done {
        let spare = self.spare()?;
        let mut length = 0;
        while value >= 0x80 {
            spare[length] = value as u8 | 0x80;
            value >>= 7;
            length += 1;
        }
        spare[length] = value as u8;
        self.at += length + 1;
        Some(())
    }

    /// Appends a tag and an integer.
    #[inline]
    pub(super) fn int(&mut self, tag: u32, value: i64) -> Done {
        let value = value.cast_unsigned();
        if tag >= 0x80 || value >= 0x80 {
            self.varint(tag.into())?;
            return self.varint(value);
        }
        let spare = self.spare()?;
        (spare[0], spare[1]) = (tag as u8, value as u8);
        self.at += 2;
        Some(())
    }

    /// Appends a tag and text or bytes.
    #[inline]
    pub(super) fn field(&mut self, tag: u32, bytes: &[u8]) -> Done {
        self.varint(tag.into())?;
        self.varint(bytes.len() as u64)?;
        self.bytes(bytes)
    }

    /// Appends a tag and the first `length` bytes of `bytes`, which are at most [`SHORT`].
    #[inline]
    pub(super) fn short_field(&mut self, tag: u32, length: usize, bytes: &[u8; SHORT]) -> Done {
        if tag >= 0x80 {
            self.varint(tag.into())?;
            self.varint(length as u64)?;
            return self.short(length, bytes);
        }
        let ([first, second], spare) = self.spare()?.split_first_chunk_mut()?;
        (*first, *second) = (tag as u8, length as u8);
        *spare.first_chunk_mut()? = *bytes;
        self.at += length + 2;
        Some(())
    }

    /// Begins a message. With `is_wide` its length is expected to take two bytes instead of one.
    #[inline]
    pub(super) fn begin(&mut self, tag: u32, is_wide: bool) -> Option<Nested> {
        let digits = 1 + usize::from(is_wide);
        if tag >= 0x80 {
            self.varint(tag.into())?;
        } else {
            self.spare()?[0] = tag as u8;
            self.at += 1;
        }
        self.at += digits;
        Some(Nested { start: self.at, digits })
    }

    /// Ends a message. Its payload moves if its length takes more or fewer bytes than expected.
    #[inline]
    pub(super) fn end(&mut self, nested: Nested) -> Done {
        let Nested { start, digits } = nested;
        let length = self.at - start;
        match (length, digits) {
            (0..0x80, 1) => *self.buffer.get_mut(start - 1)? = length as u8,
            (0x80..0x4000, 2) => {
                let digits = self.buffer.get_mut(start - 2..start)?;
                digits.copy_from_slice(&[length as u8 | 0x80, (length >> 7) as u8]);
            }
            _ => return self.end_elsewhere(nested),
        }
        Some(())
    }

    #[cold]
    fn end_elsewhere(&mut self, Nested { start, digits }: Nested) -> Done {
        let length = self.at - start;
        let first = start - digits;
        // The digits, and then the payload behind them.
        let actual = digits_of(length as u64);
        if self.buffer.len() < first + actual + length {
            self.is_full = true;
            return None;
        }
        self.buffer.copy_within(start..start + length, first + actual);
        self.at = first;
        self.varint(length as u64)?;
        self.at += length;
        Some(())
    }
}

/// Returns the number of bytes of a varint.
#[inline]
pub(super) fn digits_of(value: u64) -> usize {
    (u64::BITS - (value | 1).leading_zeros()).div_ceil(7) as usize
}
