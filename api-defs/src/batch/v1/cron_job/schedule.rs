//! Cron schedules in the syntax of the `robfig/cron` library.

use planesmith_machinery::duration::Duration;
use planesmith_machinery::go_format::quote;

use super::time_zone;

/// One of the five fields of a schedule: its bounds and the names of its values from the lower bound on.
struct Field {
    low: u64,
    high: u64,
    words: &'static [&'static str],
}

const MONTHS: &[&str] = &[
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: &[&str] = &["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const FIELDS: [Field; 5] = [
    Field {
        low: 0,
        high: 59,
        words: &[],
    },
    Field {
        low: 0,
        high: 23,
        words: &[],
    },
    Field {
        low: 1,
        high: 31,
        words: &[],
    },
    Field {
        low: 1,
        high: 12,
        words: MONTHS,
    },
    Field {
        low: 0,
        high: 6,
        words: DAYS,
    },
];

/// Checks a schedule.
///
/// # Errors
///
/// Returns the error message of the library.
pub(super) fn check(schedule: &str) -> Result<(), String> {
    let mut rest = schedule;
    if let Some(zone) = schedule
        .strip_prefix("TZ=")
        .or_else(|| schedule.strip_prefix("CRON_TZ="))
    {
        let (zone, after) = zone.split_once(' ').unwrap_or((zone, ""));
        if !zone.is_empty() && !time_zone::is_known(zone) {
            return Err(format!("provided bad location {zone}: unknown time zone {zone}"));
        }
        rest = after.trim();
    }
    if rest.starts_with('@') {
        return check_word(rest);
    }
    let fields: Vec<&str> = rest.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        let (wanted, found) = (FIELDS.len(), fields.len());
        return Err(format!(
            "expected exactly {wanted} fields, found {found}: [{}]",
            fields.join(" ")
        ));
    }
    for (text, field) in fields.into_iter().zip(&FIELDS) {
        for part in text.split(',').filter(|part| !part.is_empty()) {
            field.check(part)?;
        }
    }
    Ok(())
}

/// Checks a macro such as `@daily`.
fn check_word(word: &str) -> Result<(), String> {
    if let Some(interval) = word.strip_prefix("@every ") {
        return match interval.parse::<Duration>() {
            Ok(_) => Ok(()),
            Err(problem) => Err(format!("failed to parse duration {word}: {problem}")),
        };
    }
    match word {
        "@yearly" | "@annually" | "@monthly" | "@weekly" | "@daily" | "@midnight" | "@hourly" => Ok(()),
        _ => Err(format!("unrecognized descriptor: {word}")),
    }
}

impl Field {
    /// Checks a number, a range or `*`, optionally with a step: `5`, `1-4`, `*/2`.
    fn check(&self, part: &str) -> Result<(), String> {
        let mut pieces = part.split('/');
        let (range, step, rest) = (pieces.next().unwrap_or_default(), pieces.next(), pieces.next());
        let mut ends = range.split('-');
        let (first, last, more) = (ends.next().unwrap_or_default(), ends.next(), ends.next());
        let (start, mut end) = match (first, last) {
            ("*" | "?", _) => (self.low, self.high),
            (first, None) => {
                let start = self.number(first)?;
                (start, start)
            }
            (first, Some(last)) => {
                let start = self.number(first)?;
                if more.is_some() {
                    return Err(format!("too many hyphens: {part}"));
                }
                (start, self.number(last)?)
            }
        };
        let mut width = 1;
        if let Some(step) = step {
            if rest.is_some() {
                return Err(format!("too many slashes: {part}"));
            }
            width = number(step)?;
            // A single number with a step stands for all values from there on.
            if last.is_none() {
                end = self.high;
            }
        }
        if start < self.low {
            let low = self.low;
            return Err(format!("beginning of range ({start}) below minimum ({low}): {part}"));
        }
        if end > self.high {
            let high = self.high;
            return Err(format!("end of range ({end}) above maximum ({high}): {part}"));
        }
        if start > end {
            return Err(format!(
                "beginning of range ({start}) beyond end of range ({end}): {part}"
            ));
        }
        if width == 0 {
            return Err(format!("step of range should be a positive number: {part}"));
        }
        Ok(())
    }

    /// Returns the number that a text or a name stands for.
    fn number(&self, text: &str) -> Result<u64, String> {
        let word = text.to_lowercase();
        match self.words.iter().position(|known| *known == word) {
            Some(position) => Ok(self.low + position as u64),
            None => number(text),
        }
    }
}

fn number(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let failed = |why: &str| {
        let quoted = quote(text);
        Err(format!(
            "failed to parse int from {text}: strconv.Atoi: parsing {quoted}: {why}"
        ))
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return failed("invalid syntax");
    }
    match text.parse::<i64>() {
        Err(_) => failed("value out of range"),
        Ok(number) => match u64::try_from(number) {
            Ok(number) => Ok(number),
            Err(_) => Err(format!("negative number ({number}) not allowed: {text}")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(schedule: &str) -> String {
        check(schedule).expect_err(schedule)
    }

    #[test]
    fn schedules_of_five_fields_and_words_are_read() {
        for schedule in [
            "*/5 * * * *",
            "0 0 1,15 JAN-jun ?",
            "5/15 9-17 * * mon-FRI",
            "@daily",
            "@every 1h30m",
            "TZ=UTC 0 0 * * *",
            "CRON_TZ=Europe/Paris @hourly",
        ] {
            assert_eq!(check(schedule), Ok(()), "{schedule}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(refused("every day"), "expected exactly 5 fields, found 2: [every day]");
        assert_eq!(refused("61 25 * * *"), "end of range (61) above maximum (59): 61");
        assert_eq!(refused("* * 0 * *"), "beginning of range (0) below minimum (1): 0");
        assert_eq!(
            refused("5-3 * * * *"),
            "beginning of range (5) beyond end of range (3): 5-3"
        );
        assert_eq!(refused("1-2-3 * * * *"), "too many hyphens: 1-2-3");
        assert_eq!(refused("1/2/3 * * * *"), "too many slashes: 1/2/3");
        assert_eq!(refused("*/0 * * * *"), "step of range should be a positive number: */0");
        assert_eq!(
            refused("a * * * *"),
            "failed to parse int from a: strconv.Atoi: parsing \"a\": invalid syntax"
        );
        assert_eq!(refused("@often"), "unrecognized descriptor: @often");
        assert_eq!(
            refused("TZ=Moon/Base 0 0 * * *"),
            "provided bad location Moon/Base: unknown time zone Moon/Base"
        );
        assert_eq!(refused("TZ=UTC"), "expected exactly 5 fields, found 0: []");
    }
}
