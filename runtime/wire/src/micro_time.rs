//! Moments in microseconds.

use std::fmt;
use std::time::SystemTime;

use jiff::Timestamp;

use crate::scalar::{ScalarCodec, ScalarError, Token};
use crate::time::{Precision, display, parse, read_timestamp, write_json, write_timestamp};

/// A moment in microseconds, or none.
///
/// JSON text is RFC 3339 in UTC with exactly six digits of a second, on input too.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MicroTime(Option<Timestamp>);

impl MicroTime {
    /// No moment.
    pub const ZERO: MicroTime = MicroTime(None);

    /// The moment `timestamp`, cut to microseconds.
    #[must_use]
    pub fn new(timestamp: Timestamp) -> Self {
        MicroTime(Timestamp::from_microsecond(timestamp.as_microsecond()).ok())
    }

    /// The moment, when there is one.
    #[must_use]
    pub fn timestamp(&self) -> Option<Timestamp> {
        self.0
    }
}

impl From<Timestamp> for MicroTime {
    fn from(timestamp: Timestamp) -> Self {
        MicroTime::new(timestamp)
    }
}

/// A moment outside of any calendar is none.
impl From<SystemTime> for MicroTime {
    fn from(time: SystemTime) -> Self {
        Timestamp::try_from(time).map_or(MicroTime::ZERO, MicroTime::new)
    }
}

/// RFC 3339 in UTC; `null` for no moment.
impl fmt::Display for MicroTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        display(self.0, Precision::Microseconds, formatter)
    }
}

impl fmt::Debug for MicroTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl std::str::FromStr for MicroTime {
    type Err = ScalarError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text, Precision::Microseconds)
            .map(MicroTime::new)
            .map_err(ScalarError::Text)
    }
}

impl ScalarCodec for MicroTime {
    fn is_zero(&self) -> bool {
        self.0.is_none()
    }

    fn write_json(&self, out: &mut Vec<u8>) {
        write_json(self.0, Precision::Microseconds, out);
    }

    fn read_json(&mut self, token: Token<'_>) -> Result<(), ScalarError> {
        *self = match token {
            Token::Null => MicroTime::ZERO,
            Token::Str(text) => text.parse()?,
            other => return Err(ScalarError::kind(other, "string")),
        };
        Ok(())
    }

    fn write_proto(&self, out: &mut Vec<u8>) {
        let moment = self.0.map(|timestamp| {
            // Nanoseconds count forward from the second before the moment, also before 1970.
            let micros = timestamp.as_microsecond();
            (
                micros.div_euclid(1_000_000),
                micros.rem_euclid(1_000_000) as i32 * 1_000,
            )
        });
        write_timestamp(moment, out);
    }

    fn read_proto(&mut self, payload: &[u8]) -> Result<(), ScalarError> {
        *self = MicroTime(read_timestamp(payload)?.and_then(|(seconds, nanoseconds)| {
            let micros = seconds
                .checked_mul(1_000_000)?
                .checked_add(i64::from(nanoseconds) / 1_000)?;
            Timestamp::from_microsecond(micros).ok()
        }));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::MicroTime;

    fn error(text: &str) -> String {
        text.parse::<MicroTime>().expect_err(text).to_string()
    }

    #[test]
    fn six_digits_are_needed() {
        let text = "2024-01-02T03:04:05.123456Z";
        assert_eq!(text.parse::<MicroTime>().expect("valid").to_string(), text);
        assert_eq!(
            error("2024-01-02T03:04:05.5Z"),
            r#"parsing time "2024-01-02T03:04:05.5Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse ".5Z" as ".000000""#
        );
        assert_eq!(
            error("2024-01-02T03:04:00Z"),
            r#"parsing time "2024-01-02T03:04:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000""#
        );
    }
}
