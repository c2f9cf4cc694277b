//! Ages in the short form that kubectl prints.

use jiff::Timestamp;

use crate::resource::Cell;

/// Returns the cell of a time in a column of ages; an absent time is `<unknown>`.
#[must_use]
pub fn cell(then: Option<Timestamp>) -> Cell {
    match then {
        None => Cell::Text("<unknown>".to_owned()),
        Some(since) => Cell::Aged {
            before: String::new(),
            since,
            after: "",
        },
    }
}

/// Formats an age in seconds: `5s`, `3m20s`, `6h`, `2y325d`. Two units are printed only in ranges where kubectl does.
#[must_use]
pub fn format(seconds: i64) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const YEAR: i64 = 365 * DAY;
    match seconds {
        // Clocks of different machines may differ by a second.
        ..-1 => "<invalid>".to_owned(),
        -1..0 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => pair(seconds, (MINUTE, "m"), (1, "s")),
        600..10_800 => format!("{}m", seconds / MINUTE),
        10_800..28_800 => pair(seconds, (HOUR, "h"), (MINUTE, "m")),
        28_800..172_800 => format!("{}h", seconds / HOUR),
        172_800..691_200 => pair(seconds, (DAY, "d"), (HOUR, "h")),
        691_200..63_072_000 => format!("{}d", seconds / DAY),
        63_072_000..252_288_000 => pair(seconds, (YEAR, "y"), (DAY, "d")),
        _ => format!("{}y", seconds / YEAR),
    }
}

/// Formats two units; the smaller one is omitted if it is zero.
fn pair(seconds: i64, (large, large_unit): (i64, &str), (small, small_unit): (i64, &str)) -> String {
    let rest = seconds % large / small;
    let large = seconds / large;
    match rest {
        0 => format!("{large}{large_unit}"),
        rest => format!("{large}{large_unit}{rest}{small_unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_short() {
        let cases = [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (200, "3m20s"),
            (3_600, "60m"),
            (3 * 3_600 + 59, "3h"),
            (3 * 3_600 + 60, "3h1m"),
            (47 * 3_600, "47h"),
            (49 * 3_600, "2d1h"),
            (8 * 86_400, "8d"),
            (730 * 86_400, "2y"),
            ((730 + 325) * 86_400, "2y325d"),
            (9 * 365 * 86_400, "9y"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(format(seconds), expected);
        }
    }
}
