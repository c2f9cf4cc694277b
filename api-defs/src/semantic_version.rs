//! Semantic versions, as semver.org defines them.

use std::cmp::Ordering;

/// A semantic version. Build metadata has no effect on comparisons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SemanticVersion {
    numbers: [u64; 3],
    /// Identifiers of the pre-release; none for a release.
    pre: Vec<Identifier>,
}

/// An identifier of a pre-release. Numbers are smaller than texts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Number(u64),
    Text(String),
}

impl SemanticVersion {
    /// Parses `major.minor.patch`, optionally followed by `-pre.release` and `+build`; `None` for anything else.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (text, build) = match text.split_once('+') {
            Some((text, build)) => (text, Some(build)),
            None => (text, None),
        };
        // The first dash ends the number; the pre-release may contain further dashes.
        let (numbers, pre) = match text.split_once('-') {
            Some((numbers, pre)) => (numbers, Some(pre)),
            None => (text, None),
        };
        if !build.is_none_or(|build| build.split('.').all(is_identifier)) {
            return None;
        }
        let mut parts = numbers.split('.').map(number);
        let numbers = [parts.next()??, parts.next()??, parts.next()??];
        if parts.next().is_some() {
            return None;
        }
        let pre = pre.map_or_else(|| Some(Vec::new()), |pre| pre.split('.').map(identifier).collect())?;
        Some(Self { numbers, pre })
    }
}

impl Ord for SemanticVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        let of_pre = match (self.pre.is_empty(), other.pre.is_empty()) {
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            _ => self.pre.cmp(&other.pre),
        };
        self.numbers.cmp(&other.numbers).then(of_pre)
    }
}

impl PartialOrd for SemanticVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// True if `text` is a semantic version.
pub(crate) fn is_version(text: &str) -> bool {
    SemanticVersion::parse(text).is_some()
}

fn number(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    plain.then(|| text.parse().ok()).flatten()
}

fn identifier(text: &str) -> Option<Identifier> {
    if !is_identifier(text) {
        return None;
    }
    match text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => number(text).map(Identifier::Number),
        false => Some(Identifier::Text(text.to_owned())),
    }
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numbers_are_a_version() {
        for text in ["1.2.3", "0.0.0", "1.2.3-rc.1", "1.2.3+build.5", "1.2.3-x-y+z"] {
            assert!(SemanticVersion::parse(text).is_some(), "{text}");
        }
        for text in [
            "",
            "1",
            "1.2",
            "1.2.3.4",
            "v1.2.3",
            "01.2.3",
            "1.2.x",
            "1.2.3-",
            "1.2.3-a..b",
            "1.2.3-01",
        ] {
            assert!(SemanticVersion::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn versions_have_an_order() {
        let rising = [
            "1.9.9",
            "1.10.0-1",
            "1.10.0-2.a",
            "1.10.0-10",
            "1.10.0-a",
            "1.10.0-a.1",
            "1.10.0-b",
            "1.10.0",
        ];
        for pair in rising.windows(2) {
            assert!(
                SemanticVersion::parse(pair[0]) < SemanticVersion::parse(pair[1]),
                "{pair:?}"
            );
        }
        assert_eq!(
            SemanticVersion::parse("1.2.3+a").cmp(&SemanticVersion::parse("1.2.3+b")),
            Ordering::Equal
        );
    }
}
