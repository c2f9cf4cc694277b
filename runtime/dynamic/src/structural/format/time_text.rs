//! Formats of texts that are times.

use std::str::FromStr;

use planesmith_wire::duration::Duration;

/// Units of durations in words; the last of each is also the start of longer words.
const UNITS: [&[&str]; 8] = [
    &["ns", "nano"],
    &["us", "µs", "micro"],
    &["ms", "milli"],
    &["s", "sec"],
    &["m", "min"],
    &["h", "hr", "hour"],
    &["d", "day"],
    &["w", "wk", "week"],
];

/// `2006-01-02`
pub(super) fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has_form = bytes.len() == 10
        && bytes.iter().enumerate().all(|(index, byte)| match index {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    let number = |range: std::ops::Range<usize>| text.get(range).and_then(|digits| digits.parse::<u32>().ok());
    match (has_form, number(0..4), number(5..7), number(8..10)) {
        (true, Some(year), Some(month), Some(day)) => (1..=days(year, month)).contains(&day),
        _ => false,
    }
}

/// The days of a month; 0 if there is no such month.
fn days(year: u32, month: u32) -> u32 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 0,
    }
}

/// A date and a time of RFC 3339; hours and minutes of zones can be anything.
pub(super) fn is_date_time(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut parts = text.split('t');
    match (parts.next(), parts.next()) {
        (Some(date), Some(time)) => is_date(date) && is_time(time).unwrap_or_default(),
        _ => false,
    }
}

fn is_time(text: &str) -> Option<bool> {
    let (clock, rest) = text.split_at_checked(8)?;
    let (hour, minute, second) = (clock.get(0..2)?, clock.get(3..5)?, clock.get(6..8)?);
    let two_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let is_clock = [hour, minute, second].into_iter().all(two_digits)
        && clock.as_bytes()[2] == b':'
        && clock.as_bytes()[5] == b':'
        && hour <= "23"
        && minute <= "59"
        && second <= "59";
    Some(is_clock && (is_zone(rest) || is_zone(without_fraction(rest)?)))
}

/// The text behind a separator and at least one digit.
fn without_fraction(text: &str) -> Option<&str> {
    let mut characters = text.chars();
    characters.next().filter(|separator| *separator != '\n')?;
    let digits = characters.as_str();
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < digits.len()).then_some(rest)
}

fn is_zone(text: &str) -> bool {
    match text.as_bytes() {
        b"z" => true,
        [b'+' | b'-', hours @ .., b':', tens, ones] => {
            hours.len() == 2 && hours.iter().chain([tens, ones]).all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

/// A duration of Go, or any text with a number and a unit in words, e.g. `3 days`.
pub(super) fn is_duration(text: &str) -> bool {
    if Duration::from_str(text).is_ok() {
        return true;
    }
    let mut is_one = false;
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let number = &rest[start..];
        let behind = number.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &number[..number.len() - behind.len()];
        let word = behind.trim_start_matches([' ', '\t', '\n', '\u{c}', '\r']);
        let end = word
            .find(|c: char| !c.is_ascii_alphabetic() && c != 'µ')
            .unwrap_or(word.len());
        rest = &word[end..];
        if end > 0 {
            if digits.parse::<i64>().is_err() {
                return false;
            }
            is_one |= is_unit(&word[..end].to_lowercase());
        } else {
            rest = behind;
        }
    }
    is_one
}

fn is_unit(word: &str) -> bool {
    UNITS
        .iter()
        .any(|variants| variants.contains(&word) || variants.last().is_some_and(|longest| word.starts_with(longest)))
}
