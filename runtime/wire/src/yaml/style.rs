//! The styles of a text: plain, quoted or as a block.

use super::resolve::{Scalar, word};

/// A way to write a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// The style that go-yaml picks for `text`; `key` for the key of a mapping.
pub(super) fn of_text(text: &str, key: bool) -> Style {
    let traits = Traits::scan(text);
    if text.contains('\n') {
        return if key || !traits.block {
            Style::Double
        } else {
            Style::Literal
        };
    }
    let is_text = matches!(word(text), Scalar::Text(_)) && !is_timestamp(text) && !is_base_60(text);
    if !is_text {
        Style::Double
    } else if traits.plain {
        Style::Plain
    } else if traits.single {
        Style::Single
    } else {
        Style::Double
    }
}

/// The style that go-yaml 3 picks for a text in a node without a style, be it a key or a value.
pub(super) fn of_node(text: &str) -> Style {
    if text.contains('\n') {
        return match Traits::scan(text).tabbed_block {
            true => Style::Literal,
            false => Style::Double,
        };
    }
    if !is_read_as_text(text) {
        return Style::Double;
    }
    match Traits::scan(text) {
        Traits { plain: true, .. } => Style::Plain,
        Traits { single: true, .. } => Style::Single,
        Traits { .. } => Style::Double,
    }
}

/// True if go-yaml 3 reads the unquoted text as text. The truth values of YAML 1.1 and numbers in base 60 are.
fn is_read_as_text(text: &str) -> bool {
    match text.as_bytes().first() {
        None => false,
        Some(b'+' | b'-' | b'.' | b'0'..=b'9' | b'~') => matches!(word(text), Scalar::Text(_)) && !is_timestamp(text),
        Some(b'n' | b'N' | b't' | b'T' | b'f' | b'F') => !matches!(
            text,
            "null" | "Null" | "NULL" | "true" | "True" | "TRUE" | "false" | "False" | "FALSE"
        ),
        Some(_) => true,
    }
}

/// The styles that can show a text.
struct Traits {
    plain: bool,
    single: bool,
    block: bool,
    /// The same where tabs can be in a block.
    tabbed_block: bool,
}

impl Traits {
    fn scan(text: &str) -> Self {
        let mut special = false;
        let mut tabs = false;
        let mut space_before_break = false;
        let mut space_after_break = false;
        let mut previous = None;
        for c in text.chars() {
            tabs |= c == '\t';
            special |= c != '\t' && !is_printable(c) || matches!(c, '\u{2028}' | '\u{2029}');
            space_before_break |= previous == Some(' ') && c == '\n';
            space_after_break |= previous == Some('\n') && c == ' ';
            previous = Some(c);
        }
        let edge = |c: Option<char>| matches!(c, Some(' ' | '\n'));
        let edges = edge(text.chars().next()) || edge(text.chars().next_back());
        let unquotable = special || tabs || space_before_break;
        Traits {
            plain: !edges && !unquotable && !space_after_break && !text.contains('\n') && !has_indicator(text),
            single: !unquotable && !space_after_break,
            block: !unquotable && !text.ends_with(' '),
            tabbed_block: !special && !space_before_break && !text.ends_with(' '),
        }
    }
}

/// True if a part of the text would be taken for syntax.
fn has_indicator(text: &str) -> bool {
    let bytes = text.as_bytes();
    let blank_at = |at: usize| matches!(bytes.get(at), None | Some(b' ' | b'\t' | b'\n'));
    if text.starts_with("---") || text.starts_with("...") {
        return true;
    }
    bytes.iter().enumerate().any(|(at, byte)| match byte {
        b'#' | b',' | b'[' | b']' | b'{' | b'}' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\'' | b'"' | b'%' | b'@'
        | b'`'
            if at == 0 =>
        {
            true
        }
        b'?' | b'-' if at == 0 => blank_at(1),
        b':' => blank_at(at + 1),
        b'#' => blank_at(at - 1),
        _ => false,
    })
}

/// True if go-yaml writes the character as it is.
pub(super) fn is_printable(c: char) -> bool {
    match c {
        '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' => true,
        '\u{feff}' | '\u{fffe}' | '\u{ffff}' => false,
        '\u{e000}'..='\u{fffd}' => true,
        _ => false,
    }
}

/// True if the text looks like a date, with or without a time.
fn is_timestamp(text: &str) -> bool {
    let Some((date, rest)) = split_date(text) else {
        return false;
    };
    let (year, month, day) = date;
    if jiff::civil::Date::new(year, month, day).is_err() {
        return false;
    }
    let mut clock = rest.chars();
    let Some(mark) = clock.next() else { return true };
    let clock = clock.as_str();
    let zone_at = clock
        .find(|c: char| !c.is_ascii_digit() && !matches!(c, ':' | '.'))
        .unwrap_or(clock.len());
    let (time, zone) = clock.split_at(zone_at);
    is_time(time)
        && match mark {
            'T' | 't' => zone == "Z" || is_offset(zone),
            ' ' => zone.is_empty(),
            _ => false,
        }
}

/// `2006-1-2` at the start, and what follows.
fn split_date(text: &str) -> Option<((i16, i8, i8), &str)> {
    let (year, rest) = text
        .split_once('-')
        .filter(|(year, _)| year.len() == 4 && is_number(year))?;
    let (month, rest) = rest
        .split_once('-')
        .filter(|(month, _)| month.len() <= 2 && is_number(month))?;
    let end = rest.bytes().take(2).take_while(u8::is_ascii_digit).count();
    let (day, rest) = rest.split_at(end);
    Some(((year.parse().ok()?, month.parse().ok()?, day.parse().ok()?), rest))
}

fn is_time(text: &str) -> bool {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let parts: Vec<&str> = clock.split(':').collect();
    let [hour, minute, second] = parts.as_slice() else {
        return false;
    };
    let below =
        |part: &str, limit: u8| part.len() <= 2 && is_number(part) && part.parse::<u8>().is_ok_and(|n| n < limit);
    below(hour, 24) && below(minute, 60) && below(second, 60) && is_number(fraction)
}

fn is_offset(text: &str) -> bool {
    let Some(digits) = text.strip_prefix(['+', '-']) else {
        return false;
    };
    matches!(digits.split_once(':'), Some((hours, minutes)) if hours.len() == 2 && minutes.len() == 2 && is_number(hours) && is_number(minutes))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// True if the text is a number in base 60 (`1:30`): not read as one here, but by other parsers.
fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (numbers, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let mut parts = numbers.split(':');
    let first = parts
        .next()
        .is_some_and(|part| part.starts_with(|c: char| c.is_ascii_digit()) && digits(part));
    let rest: Vec<&str> = parts.collect();
    let sixty = |part: &&str| match part.as_bytes() {
        [digit] => digit.is_ascii_digit(),
        [b'0'..=b'5', digit] => digit.is_ascii_digit(),
        _ => false,
    };
    first && !rest.is_empty() && rest.iter().all(sixty) && digits(fraction)
}
