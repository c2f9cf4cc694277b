//! A range of ports.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// A range of ports, both ends included: `30000-32767`, `30000+2767`, or a single port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRange {
    first: u16,
    last: u16,
}

impl PortRange {
    /// Returns the range from `first` to `last`; `None` if it is empty or contains port 0.
    #[must_use]
    pub fn new(first: u16, last: u16) -> Option<Self> {
        (first > 0 && first <= last).then_some(Self { first, last })
    }

    /// The ports.
    #[must_use]
    pub fn ports(&self) -> RangeInclusive<u16> {
        self.first..=self.last
    }
}

impl FromStr for PortRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse::<u16>().ok();
        let ends = if let Some((first, last)) = text.split_once('-') {
            number(first).zip(number(last))
        } else if let Some((first, more)) = text.split_once('+') {
            let first = number(first);
            first.zip(first.and_then(|first| first.checked_add(number(more)?)))
        } else {
            number(text).map(|port| (port, port))
        };
        ends.and_then(|(first, last)| Self::new(first, last))
            .ok_or_else(|| "expected a range of ports such as 30000-32767".to_owned())
    }
}

impl fmt::Display for PortRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.first, self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_written_in_three_ways() {
        for (text, range) in [
            ("30000-32767", Some("30000-32767")),
            ("30000+10", Some("30000-30010")),
            ("80", Some("80-80")),
            ("2-1", None),
            ("0-1", None),
            ("65530+10", None),
            ("x", None),
            ("", None),
        ] {
            let parsed = text.parse::<PortRange>().ok().map(|range| range.to_string());
            assert_eq!(parsed.as_deref(), range, "{text}");
        }
    }
}
