//! The texts of timestamps and durations.

use jiff::Timestamp;

use super::instant::Instant;

/// The nanoseconds of a second.
pub(crate) const SECOND: i64 = 1_000_000_000;

/// Parses a duration in Go's format, `1h2m3.5s`, to nanoseconds.
pub(crate) fn parse_go_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = 0i128;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(end);
        let end = after
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        rest = after;
        let unit: i128 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') || whole.len() > 19 {
            return None;
        }
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        total += whole * unit;
        let mut part = unit;
        for digit in fraction.chars().take(18) {
            part /= 10;
            total += i128::from(digit.to_digit(10)?) * part;
        }
    }
    i64::try_from(if negative { -total } else { total }).ok()
}

/// Parses a duration in a document: Go's format, or with days and weeks.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
    parse_go_duration(text).or_else(|| {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit())?;
        let (number, unit) = text.split_at(end);
        let unit = match unit.trim() {
            "d" | "day" | "days" => 86_400 * SECOND,
            "w" | "week" | "weeks" => 7 * 86_400 * SECOND,
            "h" | "hr" | "hour" | "hours" => 3_600 * SECOND,
            "m" | "min" | "minute" | "minutes" => 60 * SECOND,
            "s" | "sec" | "second" | "seconds" => SECOND,
            "ms" | "milli" | "millis" => 1_000_000,
            _ => return None,
        };
        number.parse::<i64>().ok()?.checked_mul(unit)
    })
}

/// Parses a time in a document: RFC 3339, or one of its relatives.
pub(crate) fn parse_time(text: &str) -> Option<Instant> {
    let relative = || {
        let has_date = text.as_bytes().get(10).is_some_and(|c| matches!(c, b'T' | b't'));
        has_date.then(|| text.parse::<Timestamp>().ok())?.map(Instant::from)
    };
    Instant::parse(text).ok().or_else(relative)
}
