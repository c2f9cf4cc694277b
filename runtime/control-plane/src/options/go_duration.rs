//! Durations in the form of Go.

use std::time::Duration;

/// Parses `1m30s`, `500ms`, `1.5h`, `0`.
///
/// # Errors
///
/// If the text is no duration, or a negative one.
pub fn parse_go_duration(text: &str) -> Result<Duration, String> {
    parse(text).ok_or_else(|| "expected a duration such as 30s or 1m30s".to_owned())
}

fn parse(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let end = rest
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(rest.len());
        seconds += number
            * match &rest[..end] {
                "h" => 3600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 1e-3,
                "us" | "µs" => 1e-6,
                "ns" => 1e-9,
                _ => return None,
            };
        rest = &rest[end..];
    }
    if text.is_empty() {
        None
    } else {
        Duration::try_from_secs_f64(seconds).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_go_reads_them() {
        for (text, expected) in [
            ("1m0s", Some(60_000)),
            ("1h1m1s", Some(3_661_000)),
            ("250ms", Some(250)),
            ("1.5s", Some(1500)),
            ("0", Some(0)),
            ("", None),
            ("5", None),
            ("5 s", None),
            ("-1s", None),
            ("1e400h", None),
        ] {
            assert_eq!(parse(text), expected.map(Duration::from_millis), "{text}");
        }
    }
}
