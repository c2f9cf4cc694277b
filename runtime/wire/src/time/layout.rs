//! RFC 3339 text, read with the rules and errors of Go's `time.Parse`.

use std::fmt::{self, Write as _};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;

/// Seconds since 1970 of the start of year 1: the moment that Go takes for none.
pub(crate) const ZERO_SECOND: i64 = -62_135_596_800;

/// The number of digits of a second in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    Seconds,
    Microseconds,
}

impl Precision {
    fn layout(self) -> &'static str {
        match self {
            Precision::Seconds => "2006-01-02T15:04:05Z07:00",
            Precision::Microseconds => "2006-01-02T15:04:05.000000Z07:00",
        }
    }
}

/// Appends the JSON form.
pub(crate) fn write_json(moment: Option<Timestamp>, precision: Precision, out: &mut Vec<u8>) {
    let Some(moment) = moment else {
        out.extend_from_slice(b"null");
        return;
    };
    out.push(b'"');
    write_text(moment, precision, out);
    out.push(b'"');
}

/// Appends the text in UTC.
pub(crate) fn write_text(moment: Timestamp, precision: Precision, out: &mut Vec<u8>) {
    let local = Offset::UTC.to_datetime(moment);
    let mut text = *b"0000-00-00T00:00:00.000000Z";
    let mut digits = |start: usize, width: usize, value: i32| {
        let mut rest = value.unsigned_abs();
        for digit in text[start..start + width].iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
    };
    digits(0, 4, i32::from(local.year()));
    digits(5, 2, i32::from(local.month()));
    digits(8, 2, i32::from(local.day()));
    digits(11, 2, i32::from(local.hour()));
    digits(14, 2, i32::from(local.minute()));
    digits(17, 2, i32::from(local.second()));
    match precision {
        Precision::Seconds => {
            out.extend_from_slice(&text[..19]);
            out.push(b'Z');
        }
        Precision::Microseconds => {
            digits(20, 6, local.subsec_nanosecond() / 1_000);
            out.extend_from_slice(&text);
        }
    }
}

/// Shows the text, or `null` for no moment.
pub(crate) fn display(
    moment: Option<Timestamp>,
    precision: Precision,
    formatter: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let Some(moment) = moment else {
        return formatter.write_str("null");
    };
    let mut text = Vec::with_capacity(27);
    write_text(moment, precision, &mut text);
    formatter.write_str(&String::from_utf8_lossy(&text))
}

/// Reads a moment; the error is the message of Go's parser.
pub(crate) fn parse(text: &str, precision: Precision) -> Result<Timestamp, String> {
    let mut parser = Parser { rest: text.as_bytes() };
    parser.moment(precision).map_err(|mistake| {
        let (quoted, layout) = (quote(text.as_bytes()), precision.layout());
        match mistake {
            Mistake::Range(what) => format!("parsing time {quoted}: {what} out of range"),
            Mistake::Extra(rest) => format!("parsing time {quoted}: extra text: {}", quote(rest)),
            Mistake::Element { rest, element } => {
                let rest = quote(rest);
                format!("parsing time {quoted} as \"{layout}\": cannot parse {rest} as \"{element}\"")
            }
        }
    })
}

enum Mistake<'a> {
    /// A number is too large or too small.
    Range(&'static str),
    /// Text follows the moment.
    Extra(&'a [u8]),
    /// The rest does not start with this element of the layout.
    Element { rest: &'a [u8], element: &'static str },
}

struct Parser<'a> {
    rest: &'a [u8],
}

impl<'a> Parser<'a> {
    fn moment(&mut self, precision: Precision) -> Result<Timestamp, Mistake<'a>> {
        let year = self.digits(4, "2006")?;
        self.mark(b'-', "-")?;
        let month = self.in_range("01", 1..=12, "month")?;
        self.mark(b'-', "-")?;
        let day = self.digits(2, "02")?;
        self.mark(b'T', "T")?;
        let hour = self.hour()?;
        self.mark(b':', ":")?;
        let minute = self.in_range("04", 0..=59, "minute")?;
        self.mark(b':', ":")?;
        let second = self.in_range("05", 0..=59, "second")?;
        let nanosecond = match precision {
            Precision::Seconds => self.optional_fraction(),
            Precision::Microseconds => self.six_digits()?,
        };
        let offset = self.offset()?;
        if !self.rest.is_empty() {
            return Err(Mistake::Extra(self.rest));
        }
        let fields = (i16::try_from(year), i8::try_from(month), i8::try_from(day));
        let (Ok(year), Ok(month), Ok(day)) = fields else {
            return Err(Mistake::Range("day"));
        };
        let date = Date::new(year, month, day).map_err(|_| Mistake::Range("day"))?;
        let at = date.at(hour as i8, minute as i8, second as i8, 0);
        let utc = Offset::UTC.to_timestamp(at).map_err(|_| Mistake::Range("year"))?;
        let seconds = utc.as_second() - i64::from(offset);
        Timestamp::new(seconds, nanosecond).map_err(|_| Mistake::Range("year"))
    }

    /// Exactly `count` digits.
    fn digits(&mut self, count: usize, element: &'static str) -> Result<i32, Mistake<'a>> {
        let wrong = Mistake::Element {
            rest: self.rest,
            element,
        };
        let Some((digits, rest)) = self.rest.split_at_checked(count) else {
            return Err(wrong);
        };
        let Some(value) = number(digits) else { return Err(wrong) };
        self.rest = rest;
        Ok(value)
    }

    fn in_range(
        &mut self,
        element: &'static str,
        range: std::ops::RangeInclusive<i32>,
        name: &'static str,
    ) -> Result<i32, Mistake<'a>> {
        let value = self.digits(2, element)?;
        if range.contains(&value) {
            Ok(value)
        } else {
            Err(Mistake::Range(name))
        }
    }

    /// One or two digits: the one element that Go does not want in full.
    fn hour(&mut self) -> Result<i32, Mistake<'a>> {
        let width = self
            .rest
            .iter()
            .take(2)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let value = self.digits(width.max(1), "15")?;
        if value < 24 {
            Ok(value)
        } else {
            Err(Mistake::Range("hour"))
        }
    }

    fn mark(&mut self, mark: u8, element: &'static str) -> Result<(), Mistake<'a>> {
        match self.rest.split_first() {
            Some((byte, rest)) if *byte == mark => {
                self.rest = rest;
                Ok(())
            }
            _ => Err(Mistake::Element {
                rest: self.rest,
                element,
            }),
        }
    }

    /// A fraction of any length, as nanoseconds; the layout does not ask for it.
    fn optional_fraction(&mut self) -> i32 {
        let [b'.' | b',', digits @ ..] = self.rest else {
            return 0;
        };
        let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return 0;
        }
        self.rest = &digits[count..];
        (0..9).fold(0, |value, at| {
            value * 10 + if at < count { i32::from(digits[at] - b'0') } else { 0 }
        })
    }

    fn six_digits(&mut self) -> Result<i32, Mistake<'a>> {
        let wrong = Mistake::Element {
            rest: self.rest,
            element: ".000000",
        };
        let Some((fraction, rest)) = self.rest.split_at_checked(7) else {
            return Err(wrong);
        };
        let [b'.' | b',', digits @ ..] = fraction else {
            return Err(wrong);
        };
        let Some(value) = number(digits) else { return Err(wrong) };
        self.rest = rest;
        Ok(value * 1_000)
    }

    /// Seconds east of UTC.
    fn offset(&mut self) -> Result<i32, Mistake<'a>> {
        if let [b'Z', rest @ ..] = self.rest {
            self.rest = rest;
            return Ok(0);
        }
        let wrong = Mistake::Element {
            rest: self.rest,
            element: "Z07:00",
        };
        let [sign, h1, h2, b':', m1, m2, rest @ ..] = self.rest else {
            return Err(wrong);
        };
        let (Some(hours), Some(minutes)) = (number(&[*h1, *h2]), number(&[*m1, *m2])) else {
            return Err(wrong);
        };
        // Go lets 24 hours and 60 minutes pass, as some people write them.
        if hours > 24 {
            return Err(Mistake::Range("time zone offset hour"));
        }
        if minutes > 60 {
            return Err(Mistake::Range("time zone offset minute"));
        }
        let seconds = (hours * 60 + minutes) * 60;
        let offset = match sign {
            b'+' => seconds,
            b'-' => -seconds,
            _ => return Err(wrong),
        };
        self.rest = rest;
        Ok(offset)
    }
}

fn number(digits: &[u8]) -> Option<i32> {
    digits.iter().try_fold(0, |value, byte| {
        byte.is_ascii_digit().then(|| value * 10 + i32::from(byte - b'0'))
    })
}

/// Quotes as Go's `time` package does: everything that is not plain ASCII byte by byte.
fn quote(text: &[u8]) -> String {
    let mut out = String::from("\"");
    for byte in text {
        match byte {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(char::from(*byte));
            }
            0x20..0x80 => out.push(char::from(*byte)),
            _ => write!(out, "\\x{byte:02x}").expect("writing to memory does not fail"),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::{Precision, parse};
    use crate::time::Time;

    #[test]
    fn text_of_any_offset_becomes_utc() {
        let cases = [
            ("2024-01-02T03:04:05Z", "2024-01-02T03:04:05Z"),
            ("2024-01-02T03:04:05.999Z", "2024-01-02T03:04:05Z"),
            ("2024-01-02T03:04:05+02:30", "2024-01-02T00:34:05Z"),
            ("2024-02-29T3:04:05-00:00", "2024-02-29T03:04:05Z"),
            ("0001-01-01T00:00:00Z", "null"),
            ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59Z"),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse::<Time>().expect(text).to_string(), expected);
        }
    }

    #[test]
    fn mistakes_are_worded_as_go_does() {
        let layout = "2006-01-02T15:04:05Z07:00";
        let element = |text: &str, rest: &str, element: &str| {
            (
                text.to_owned(),
                format!("parsing time \"{text}\" as \"{layout}\": cannot parse \"{rest}\" as \"{element}\""),
            )
        };
        let cases = [
            element("yesterday", "yesterday", "2006"),
            element("", "", "2006"),
            element("2024/01/02", "/01/02", "-"),
            element("2024-1-2T00:00:00Z", "1-2T00:00:00Z", "01"),
            element("2024-01-02 03:04:05Z", " 03:04:05Z", "T"),
            element("2024-01-02T03:04:05", "", "Z07:00"),
            (
                "2024-13-02T03:04:05Z".to_owned(),
                "parsing time \"2024-13-02T03:04:05Z\": month out of range".to_owned(),
            ),
            (
                "2023-02-29T03:04:05Z".to_owned(),
                "parsing time \"2023-02-29T03:04:05Z\": day out of range".to_owned(),
            ),
            (
                "2024-01-02T24:04:05Z".to_owned(),
                "parsing time \"2024-01-02T24:04:05Z\": hour out of range".to_owned(),
            ),
            (
                "2024-01-02T03:04:05Zx".to_owned(),
                "parsing time \"2024-01-02T03:04:05Zx\": extra text: \"x\"".to_owned(),
            ),
        ];
        for (text, message) in cases {
            assert_eq!(parse(&text, Precision::Seconds).expect_err(&text), message);
        }
    }
}
