//! Semantic versions, as semver.org defines them.

/// A semantic version. Only the part before `-` and `+` is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SemanticVersion {
    major: u64,
    minor: u64,
    patch: u64,
}

impl SemanticVersion {
    /// Parses `major.minor.patch`, optionally followed by `-pre.release` and `+build`; `None` for anything else.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (text, build) = match text.split_once('+') {
            Some((text, build)) => (text, Some(build)),
            None => (text, None),
        };
        // The first dash ends the number; the pre-release may contain further dashes.
        let (numbers, release) = match text.split_once('-') {
            Some((numbers, release)) => (numbers, Some(release)),
            None => (text, None),
        };
        if ![build, release].into_iter().flatten().all(is_dotted) {
            return None;
        }
        let mut parts = numbers.split('.').map(number);
        let version = Self {
            major: parts.next()??,
            minor: parts.next()??,
            patch: parts.next()??,
        };
        parts.next().is_none().then_some(version)
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

fn is_dotted(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    text.split('.').all(|part| !part.is_empty() && part.bytes().all(legal))
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
        ] {
            assert!(SemanticVersion::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn versions_are_compared_by_number() {
        assert!(SemanticVersion::parse("1.10.0") > SemanticVersion::parse("1.9.9"));
    }
}
