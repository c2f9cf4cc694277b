//! Times in the usual form.

/// Returns the seconds since 1970 of a time in the usual form; `None` for a time that needs the full parser.
pub(super) fn seconds_of(text: &[u8]) -> Option<i64> {
    let [
        y1,
        y2,
        y3,
        y4,
        b'-',
        m1,
        m2,
        b'-',
        d1,
        d2,
        b'T',
        h1,
        h2,
        b':',
        n1,
        n2,
        b':',
        s1,
        s2,
        b'Z',
    ] = text
    else {
        return None;
    };
    let number = |digits: &[&u8]| {
        digits.iter().try_fold(0_i64, |value, digit| {
            digit.is_ascii_digit().then(|| value * 10 + i64::from(**digit - b'0'))
        })
    };
    let (year, month, day) = (number(&[y1, y2, y3, y4])?, number(&[m1, m2])?, number(&[d1, d2])?);
    let (hour, minute, second) = (number(&[h1, h2])?, number(&[n1, n2])?, number(&[s1, s2])?);
    // Days that not every month has are left to the parser.
    let is_plain = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=28).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !is_plain {
        return None;
    }
    // Years that start in March have their leap day at the end.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    // From 1 March of the year 0 to 1970.
    Some((days - 719_468) * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use planesmith_wire::time::Time;

    use super::*;

    #[test]
    fn times_are_what_the_parser_says() {
        for text in [
            "1970-01-01T00:00:00Z",
            "1999-12-28T23:59:59Z",
            "2000-02-28T01:02:03Z",
            "2000-03-01T00:00:00Z",
            "2024-02-10T10:20:30Z",
            "2026-11-23T08:00:00Z",
            "9999-12-28T23:59:59Z",
        ] {
            let time: Time = text.parse().expect("a time");
            assert_eq!(seconds_of(text.as_bytes()), Some(time.as_second()), "{text}");
        }
        for text in [
            "2024-02-29T00:00:00Z",
            "2024-02-10T10:20:30.5Z",
            "0001-01-01T00:00:00Z",
            "2024-02-1xT10:20:30Z",
        ] {
            assert_eq!(seconds_of(text.as_bytes()), None, "{text}");
        }
    }
}
