//! Spans of time in Go's notation: `1h30m`, `250ms`.

use std::fmt;

use crate::go_format::quote;
use crate::json::encode_text;
use crate::protobuf::{Fields, write_int};
use crate::scalar::{ScalarCodec, ScalarError, Token};

/// A span of time in nanoseconds; may be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub i64);

/// Units with their nanoseconds, as they are read.
const UNITS: [(&str, i64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

impl fmt::Display for Duration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.0.unsigned_abs();
        if self.0 < 0 {
            formatter.write_str("-")?;
        }
        let (unit, digits) = match total {
            0 => return formatter.write_str("0s"),
            1..1_000 => ("ns", 0),
            1_000..1_000_000 => ("µs", 3),
            1_000_000..1_000_000_000 => ("ms", 6),
            _ => ("s", 9),
        };
        let (minutes, below) = if digits == 9 {
            (total / 60_000_000_000, total % 60_000_000_000)
        } else {
            (0, total)
        };
        if minutes >= 60 {
            write!(formatter, "{}h", minutes / 60)?;
        }
        if minutes > 0 {
            write!(formatter, "{}m", minutes % 60)?;
        }
        let scale = 10_u64.pow(digits);
        write!(formatter, "{}", below / scale)?;
        if below % scale > 0 {
            let fraction = format!("{:0width$}", below % scale, width = digits as usize);
            write!(formatter, ".{}", fraction.trim_end_matches('0'))?;
        }
        formatter.write_str(unit)
    }
}

impl std::str::FromStr for Duration {
    type Err = ScalarError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || ScalarError::Text(format!("time: invalid duration {}", quote(text)));
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        if unsigned == "0" {
            return Ok(Duration(0));
        }
        let mut rest = unsigned;
        let mut total = 0_i128;
        loop {
            let end = rest
                .find(|c: char| !c.is_ascii_digit() && c != '.')
                .unwrap_or(rest.len());
            let (number, behind) = rest.split_at(end);
            let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
            if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
                return Err(invalid());
            }
            let end = behind
                .find(|c: char| c.is_ascii_digit() || c == '.')
                .unwrap_or(behind.len());
            let (unit, next) = behind.split_at(end);
            if unit.is_empty() {
                return Err(ScalarError::Text(format!(
                    "time: missing unit in duration {}",
                    quote(text)
                )));
            }
            let Some((_, size)) = UNITS.iter().find(|(name, _)| *name == unit) else {
                let unit = quote(unit);
                return Err(ScalarError::Text(format!(
                    "time: unknown unit {unit} in duration {}",
                    quote(text)
                )));
            };
            total += span(whole, fraction, *size).ok_or_else(invalid)?;
            if next.is_empty() {
                break;
            }
            rest = next;
        }
        let signed = if text.starts_with('-') { -total } else { total };
        i64::try_from(signed).map(Duration).map_err(|_| invalid())
    }
}

/// Nanoseconds of `whole.fraction` units; digits finer than a nanosecond are dropped.
fn span(whole: &str, fraction: &str, size: i64) -> Option<i128> {
    let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction = &fraction[..fraction.len().min(18)];
    let part: i128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let scale = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
    Some(i128::from(whole) * i128::from(size) + part * i128::from(size) / scale)
}

impl ScalarCodec for Duration {
    fn is_zero(&self) -> bool {
        self.0 == 0
    }

    fn write_json(&self, out: &mut Vec<u8>) {
        encode_text(&self.to_string(), out);
    }

    fn read_json(&mut self, token: Token<'_>) -> Result<(), ScalarError> {
        *self = match token {
            // Go reads null as empty text, which is no duration.
            Token::Null => "".parse()?,
            Token::Str(text) => text.parse()?,
            other => return Err(ScalarError::kind(other, "string")),
        };
        Ok(())
    }

    fn write_proto(&self, out: &mut Vec<u8>) {
        write_int(out, 1, self.0);
    }

    fn read_proto(&mut self, payload: &[u8]) -> Result<(), ScalarError> {
        *self = Duration(0);
        let mut fields = Fields::new(payload, "Duration");
        while let Some((number, wire)) = fields.next()? {
            if number == 1 {
                *self = Duration(wire.int("Duration")?);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Duration;

    #[test]
    fn spans_are_read_and_shown_as_go_does() {
        let cases = [
            ("0", "0s"),
            ("1h30m", "1h30m0s"),
            ("90s", "1m30s"),
            ("1.5h", "1h30m0s"),
            ("250ms", "250ms"),
            ("1.5us", "1.5µs"),
            ("-1m", "-1m0s"),
            (".5s", "500ms"),
            ("100h0m0.000000001s", "100h0m0.000000001s"),
            ("1ns", "1ns"),
            ("+2s", "2s"),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse::<Duration>().expect(text).to_string(), expected, "{text}");
        }
    }

    #[test]
    fn mistakes_are_worded_as_go_does() {
        let cases = [
            ("", r#"time: invalid duration """#),
            ("x", r#"time: invalid duration "x""#),
            ("5", r#"time: missing unit in duration "5""#),
            ("5x", r#"time: unknown unit "x" in duration "5x""#),
            ("1.2.3s", r#"time: invalid duration "1.2.3s""#),
            ("9999999999h", r#"time: invalid duration "9999999999h""#),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse::<Duration>().expect_err(text).to_string(), expected);
        }
    }
}
