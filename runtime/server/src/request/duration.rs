//! Durations in Go's notation.

use std::time::Duration;

use planesmith_machinery::go_format::quote;

/// The reason that a text is not a duration, in Go's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidDuration(pub String);

/// Parses a duration such as `32s` or `1m30s`. Negative ones and zero are returned as zero, which means that no
/// duration is requested.
///
/// # Errors
///
/// The text is not a duration; the message is that of Go's `time.ParseDuration`.
pub fn parse_duration(text: &str) -> Result<Duration, InvalidDuration> {
    let invalid = || InvalidDuration(format!("time: invalid duration {}", quote(text)));
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest
            .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let number: f64 = number.parse().map_err(|_| invalid())?;
        let letters = after
            .find(|letter: char| letter.is_ascii_digit() || letter == '.')
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let seconds = match unit {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "" => {
                return Err(InvalidDuration(format!(
                    "time: missing unit in duration {}",
                    quote(text)
                )));
            }
            _ => {
                let problem = format!("time: unknown unit {} in duration {}", quote(unit), quote(text));
                return Err(InvalidDuration(problem));
            }
        };
        total += number * seconds;
        rest = after;
    }
    let duration = Duration::try_from_secs_f64(total).map_err(|_| invalid())?;
    Ok(if negative { Duration::ZERO } else { duration })
}
