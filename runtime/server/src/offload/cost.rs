//! The expected cost of work.

use std::ops::Add;

use crate::negotiation::{Format, Output, Target};

/// Expected processor time, on one core of a typical machine. Estimates are rough, and rather too high than too low.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cost {
    nanos: u64,
}

impl Cost {
    /// Work below this cost runs in the calling task: taking a thread out of the runtime takes some 20 microseconds,
    /// and a worker that is busy for half a millisecond delays no request noticeably.
    pub(crate) const INLINE: Cost = Cost { nanos: 500_000 };

    /// Work from this cost on is long, and waits for other long work only.
    pub(crate) const LONG: Cost = Cost { nanos: 20_000_000 };

    /// True if the work waits for other long work only.
    pub(crate) fn is_long(self) -> bool {
        self >= Self::LONG
    }

    /// A cost of `nanos` nanoseconds.
    pub(crate) const fn of_nanos(nanos: u64) -> Self {
        Self { nanos }
    }

    /// One step of a write or read on an object of `bytes` in JSON: to decode, check, track or encode it.
    pub(crate) const fn of_json(bytes: usize) -> Self {
        Self::per_byte(bytes, 8)
    }

    /// Encoding or decoding `bytes` of a document in protobuf, CBOR or as rows of a Table; or pretty JSON.
    pub(crate) const fn of_other_form(bytes: usize) -> Self {
        Self::per_byte(bytes, 16)
    }

    /// Transcoding `bytes` of stored JSON into protobuf.
    pub(crate) const fn of_transcoding(bytes: usize) -> Self {
        Self::per_byte(bytes, 4)
    }

    /// Encoding or decoding `bytes` of a document in YAML.
    pub(crate) const fn of_yaml(bytes: usize) -> Self {
        Self::per_byte(bytes, 128)
    }

    /// Decoding a body of `bytes` in `format` into an object.
    pub(crate) const fn of_body(format: Format, bytes: usize) -> Self {
        match format {
            Format::Json => Self::of_json(bytes),
            Format::Protobuf | Format::Cbor => Self::of_other_form(bytes),
            Format::Yaml => Self::of_yaml(bytes),
        }
    }

    /// Encoding an object of `bytes` in JSON as `output`. Plain JSON is sent as it is stored.
    pub(crate) const fn of_answer(output: Output, bytes: usize) -> Self {
        match (output.format, output.target) {
            (Format::Yaml, _) => Self::of_yaml(bytes),
            (Format::Json, Target::Object) if !output.pretty => Self::of_nanos(0),
            (Format::Json | Format::Protobuf | Format::Cbor, _) => Self::of_other_form(bytes),
        }
    }

    const fn per_byte(bytes: usize, nanos: u64) -> Self {
        // Bodies have megabytes at most.
        Self::of_nanos((bytes as u64).saturating_mul(nanos))
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::of_nanos(self.nanos.saturating_add(other.nanos))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_decides_with_the_size_where_documents_are_worked_on() {
        assert!(Cost::of_json(32 << 10) < Cost::INLINE && Cost::of_json(64 << 10) >= Cost::INLINE);
        assert!(Cost::of_yaml(2 << 10) < Cost::INLINE && Cost::of_yaml(4 << 10) >= Cost::INLINE);
        assert!(Cost::of_yaml(1 << 20) >= Cost::LONG && Cost::of_json(1 << 20) < Cost::LONG);
        assert_eq!(Cost::of_yaml(usize::MAX) + Cost::INLINE, Cost::of_nanos(u64::MAX));
    }
}
