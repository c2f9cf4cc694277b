//! Points in time.

use std::cmp::Ordering;
use std::fmt;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::time::SECOND;

/// The first second of year 1, since 1970.
const FIRST: i64 = -62_135_596_800;

/// The last second of year 9999, since 1970.
const LAST: i64 = 253_402_300_799;

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// A point in time between the years 1 and 9999, with the offset from UTC in which it was written. The offset is a part of texts
/// and of nothing else.
#[derive(Clone, Copy, Debug)]
pub struct Instant {
    /// Since 1970 in UTC.
    seconds: i64,
    /// From 0, also before 1970.
    nanoseconds: i64,
    /// Seconds east of UTC.
    offset: i64,
}

/// The reason why a text is no point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InvalidInstant {
    /// The text has another form.
    Malformed,
    /// The time is outside of the years 1 to 9999.
    OutOfRange,
}

impl Instant {
    /// Returns the point `seconds` after the start of 1970 in UTC; `None` if it is out of range.
    pub(crate) fn from_second(seconds: i64) -> Option<Self> {
        (FIRST..=LAST).contains(&seconds).then_some(Self {
            seconds,
            nanoseconds: 0,
            offset: 0,
        })
    }

    /// Parses a time of RFC 3339 as Go does: capital letters, a fraction behind a point or a comma, and hours of one digit.
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidInstant> {
        let read = read(text).ok_or(InvalidInstant::Malformed)?;
        match (FIRST..=LAST).contains(&read.seconds) {
            true => Ok(read),
            false => Err(InvalidInstant::OutOfRange),
        }
    }

    /// Returns the seconds since 1970.
    pub(crate) fn as_second(self) -> i64 {
        self.seconds
    }

    /// Returns a later point; `None` if it is out of range.
    pub(crate) fn checked_add(self, nanoseconds: i64) -> Option<Self> {
        let sum = self.nanoseconds + nanoseconds % SECOND;
        let seconds = self.seconds + nanoseconds / SECOND + sum.div_euclid(SECOND);
        Some(Self {
            nanoseconds: sum.rem_euclid(SECOND),
            offset: self.offset,
            ..Self::from_second(seconds)?
        })
    }

    /// Returns the nanoseconds between an earlier point and this one; `None` beyond 64 bits.
    pub(crate) fn since(self, earlier: Self) -> Option<i64> {
        let seconds = self.seconds - earlier.seconds;
        let nanoseconds = self.nanoseconds - earlier.nanoseconds;
        seconds.checked_mul(SECOND)?.checked_add(nanoseconds)
    }

    /// Returns date and time of day in a time zone.
    pub(crate) fn in_zone(self, zone: &TimeZone) -> DateTime {
        let known = (Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
        let nearest = Timestamp::from_second(self.seconds.clamp(known.0, known.1));
        let offset = nearest.map_or(0, |nearest| zone.to_offset(nearest).seconds());
        self.at_offset(i64::from(offset))
    }

    fn at_offset(self, offset: i64) -> DateTime {
        let seconds = SignedDuration::from_secs(self.seconds + offset);
        EPOCH.saturating_add(seconds + SignedDuration::from_nanos(self.nanoseconds))
    }

    fn key(self) -> (i64, i64) {
        (self.seconds, self.nanoseconds)
    }
}

impl From<Timestamp> for Instant {
    fn from(time: Timestamp) -> Self {
        let nanoseconds = i64::from(time.subsec_nanosecond());
        Self {
            seconds: time.as_second() - i64::from(nanoseconds < 0),
            nanoseconds: nanoseconds.rem_euclid(SECOND),
            offset: 0,
        }
    }
}

impl PartialEq for Instant {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Instant {}

impl PartialOrd for Instant {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Instant {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// RFC 3339 with the offset of the text, and the digits of the fraction that are not zeros at the end.
impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.at_offset(self.offset))?;
        if self.offset == 0 {
            return f.write_str("Z");
        }
        let sign = if self.offset < 0 { '-' } else { '+' };
        let minutes = self.offset.abs() / 60;
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

/// Reads `2006-01-02T15:04:05.5+07:00`, of any year.
fn read(text: &str) -> Option<Instant> {
    let mut reader = Reader { rest: text };
    let year = reader.digits(4)?;
    let month = reader.after('-')?.digits(2)?;
    let day = reader.after('-')?.digits(2)?;
    reader.after('T')?;
    let hour = reader
        .digits(2)
        .or_else(|| reader.digits(1))
        .filter(|hour| *hour < 24)?;
    let minute = reader.after(':')?.digits(2).filter(|minute| *minute < 60)?;
    let second = reader.after(':')?.digits(2).filter(|second| *second < 60)?;
    let nanoseconds = reader.fraction()?;
    let offset = reader.offset()?;
    let date = Date::new(
        i16::try_from(year).ok()?,
        i8::try_from(month).ok()?,
        i8::try_from(day).ok()?,
    );
    let days = i64::from(date.ok()?.since(EPOCH.date()).ok()?.get_days());
    Some(Instant {
        seconds: ((days * 24 + hour) * 60 + minute) * 60 + second - offset,
        nanoseconds,
        offset,
    })
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn after(&mut self, sign: char) -> Option<&mut Self> {
        self.rest = self.rest.strip_prefix(sign)?;
        Some(self)
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.rest.split_at_checked(count)?;
        let number = digits
            .parse()
            .ok()
            .filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        self.rest = rest;
        Some(number)
    }

    /// Reads a fraction of a second, if there is one; digits beyond nanoseconds have no effect.
    fn fraction(&mut self) -> Option<i64> {
        let Some(digits) = self.rest.strip_prefix(['.', ',']) else {
            return Some(0);
        };
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let (digits, rest) = digits.split_at(end);
        self.rest = rest;
        let digits = digits.get(..9).unwrap_or(digits);
        format!("{digits:0<9}").parse().ok().filter(|_| !digits.is_empty())
    }

    fn offset(&mut self) -> Option<i64> {
        if self.rest == "Z" {
            return Some(0);
        }
        let sign = if self.rest.starts_with('-') { -1 } else { 1 };
        self.rest = self.rest.strip_prefix(['+', '-'])?;
        let hours = self.digits(2).filter(|hours| *hours <= 24)?;
        let minutes = self.after(':')?.digits(2).filter(|minutes| *minutes <= 60)?;
        self.rest.is_empty().then_some(sign * (hours * 60 + minutes) * 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_offset() {
        for text in [
            "2020-01-01T00:00:00Z",
            "2020-01-01T00:00:00.12+05:30",
            "1969-12-31T23:59:59.5-01:00",
            "0001-01-01T00:00:00Z",
            "9999-12-31T23:59:59.999999999Z",
        ] {
            assert_eq!(Instant::parse(text).map(|time| time.to_string()).as_deref(), Ok(text));
        }
        let shown = |text| Instant::parse(text).unwrap().to_string();
        assert_eq!(shown("2020-01-01T5:00:00,5-00:00"), "2020-01-01T05:00:00.5Z");
        assert_eq!(
            Instant::parse("2020-01-01T00:00:00+05:30"),
            Instant::parse("2019-12-31T18:30:00Z")
        );
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "2020-01-01T00:00:00z",
            "2020-01-01t00:00:00Z",
            "2020-01-01T00:00:60Z",
            "2020-01-01T24:00:00Z",
            "2020-02-30T00:00:00Z",
            "2020-01-01T00:00:00+25:00",
            "2020-01-01T00:00:00",
            "2020-01-01T00:00:00.Z",
            "2020-01-01",
            "",
        ] {
            assert_eq!(Instant::parse(text), Err(InvalidInstant::Malformed), "{text}");
        }
        for text in ["0000-12-31T23:59:59Z", "9999-12-31T23:59:59-00:01"] {
            assert_eq!(Instant::parse(text), Err(InvalidInstant::OutOfRange), "{text}");
        }
    }

    #[test]
    fn sums_stay_in_range() {
        let last = Instant::from_second(LAST).unwrap();
        assert_eq!(last.checked_add(SECOND), None);
        assert_eq!(last.checked_add(-SECOND), Instant::from_second(LAST - 1));
        let first = Instant::from_second(FIRST).unwrap();
        assert_eq!(first.checked_add(-1), None);
        assert_eq!(last.since(first), None);
        assert_eq!(first.checked_add(5).unwrap().since(first), Some(5));
        assert_eq!(last.in_zone(&TimeZone::UTC).year(), 9999);
    }
}
