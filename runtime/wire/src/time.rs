//! Moments in whole seconds, and how text becomes one.

mod layout;

use std::fmt;
use std::time::SystemTime;

use jiff::Timestamp;

pub(crate) use layout::{Precision, display, parse, write_json};

use crate::protobuf::{Fields, write_int};
use crate::scalar::{ScalarCodec, ScalarError, Token};

/// A moment in whole seconds, or none (Go's zero time, `null` in JSON).
///
/// JSON text is RFC 3339 in UTC; other offsets and fractions of seconds are understood, the latter dropped.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(Option<Timestamp>);

impl Time {
    /// No moment.
    pub const ZERO: Time = Time(None);

    /// The moment `timestamp`, without its fraction of a second.
    #[must_use]
    pub fn new(timestamp: Timestamp) -> Self {
        // Before 1970 the fraction is negative; the second that has begun is the one before.
        Time::from_second(timestamp.as_second() - i64::from(timestamp.subsec_nanosecond() < 0))
    }

    /// So many seconds after the start of 1970 in UTC; no moment when far outside of any calendar.
    #[must_use]
    pub fn from_second(seconds: i64) -> Self {
        Time(
            Timestamp::from_second(seconds)
                .ok()
                .filter(|timestamp| timestamp.as_second() != layout::ZERO_SECOND),
        )
    }

    /// The moment, when there is one.
    #[must_use]
    pub fn timestamp(&self) -> Option<Timestamp> {
        self.0
    }

    /// Seconds since 1970; 0 for the time that says nothing.
    #[must_use]
    pub fn as_second(&self) -> i64 {
        self.timestamp().map_or(0, Timestamp::as_second)
    }

    /// True if there is no moment.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0.is_none()
    }
}

impl From<Timestamp> for Time {
    fn from(timestamp: Timestamp) -> Self {
        Time::new(timestamp)
    }
}

/// A moment outside of any calendar is none.
impl From<SystemTime> for Time {
    fn from(time: SystemTime) -> Self {
        Timestamp::try_from(time).map_or(Time::ZERO, Time::new)
    }
}

/// RFC 3339 in UTC; `null` for no moment.
impl fmt::Display for Time {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(self.0, Precision::Seconds, formatter)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl std::str::FromStr for Time {
    type Err = ScalarError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let timestamp = parse(text, Precision::Seconds).map_err(ScalarError::Text)?;
        Ok(Time::new(timestamp))
    }
}

impl ScalarCodec for Time {
    fn is_zero(&self) -> bool {
        self.0.is_none()
    }

    fn write_json(&self, out: &mut Vec<u8>) {
        write_json(self.0, Precision::Seconds, out);
    }

    fn read_json(&mut self, token: Token<'_>) -> Result<(), ScalarError> {
        *self = match token {
            Token::Null => Time::ZERO,
            Token::Str(text) => text.parse()?,
            other => return Err(ScalarError::kind(other, "string")),
        };
        Ok(())
    }

    fn write_proto(&self, out: &mut Vec<u8>) {
        // Only whole seconds: JSON cannot show more, so more would change on the way.
        write_timestamp(self.0.map(|timestamp| (timestamp.as_second(), 0)), out);
    }

    fn read_proto(&mut self, payload: &[u8]) -> Result<(), ScalarError> {
        *self = read_timestamp(payload)?.map_or(Time::ZERO, |(seconds, _)| Time::from_second(seconds));
        Ok(())
    }
}

/// Appends a `Timestamp` message; nothing for no moment.
pub(crate) fn write_timestamp(moment: Option<(i64, i32)>, out: &mut Vec<u8>) {
    if let Some((seconds, nanoseconds)) = moment {
        write_int(out, 1, seconds);
        write_int(out, 2, i64::from(nanoseconds));
    }
}

/// Reads a `Timestamp` message as seconds and nanoseconds; an empty one is no moment.
pub(crate) fn read_timestamp(payload: &[u8]) -> Result<Option<(i64, i32)>, ScalarError> {
    if payload.is_empty() {
        return Ok(None);
    }
    let (mut seconds, mut nanoseconds) = (0, 0);
    let mut fields = Fields::new(payload, "Timestamp");
    while let Some((number, wire)) = fields.next()? {
        match number {
            1 => seconds = wire.int("Seconds")?,
            2 => nanoseconds = wire.int("Nanos")? as i32,
            _ => {}
        }
    }
    Ok(Some((seconds, nanoseconds)))
}
