//! `--version`: prints the version, or sets the one that the server reports.

use std::str::FromStr;

use planesmith_server::version::Version;

/// The use of `--version`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum VersionFlag {
    /// The flag is absent or false: the server reports its own version.
    #[default]
    Own,
    /// Print the name and version of the program.
    Print,
    /// Print everything that `/version` answers.
    PrintRaw,
    /// The server reports this version.
    Reported(String),
}

impl FromStr for VersionFlag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "false" | "False" | "FALSE" | "f" | "F" | "0" => Ok(Self::Own),
            "true" | "True" | "TRUE" | "t" | "T" | "1" => Ok(Self::Print),
            "raw" => Ok(Self::PrintRaw),
            text if text.starts_with('v') => reported(text).map(Self::Reported),
            _ => Err("expected true, raw or a version such as v1.36.0+local".to_owned()),
        }
    }
}

/// Returns `text` if it is a semantic version whose numbers are those of the served API.
fn reported(text: &str) -> Result<String, String> {
    let own = Version::default().git_version;
    let numbers = own.split(['-', '+']).next().unwrap_or_default();
    let other = || format!("version {text:?} must match major/minor/patch of default version {own:?}");
    let suffix = text.strip_prefix(numbers).ok_or_else(other)?;
    let (release, build) = match suffix.split_once('+') {
        Some((release, build)) => (release, Some(build)),
        None => (suffix, None),
    };
    let release = match release.strip_prefix('-') {
        Some(release) => Some(release),
        None if release.is_empty() => None,
        None => return Err(other()),
    };
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    match [release, build]
        .into_iter()
        .flatten()
        .all(|part| part.split('.').all(is_word))
    {
        true => Ok(text.to_owned()),
        false => Err(format!("could not parse {text:?} as a semantic version")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_with_the_numbers_of_the_server_can_be_reported() {
        for text in ["v1.36.0", "v1.36.0+local", "v1.36.0-rc.1+a.b-c"] {
            assert_eq!(text.parse(), Ok(VersionFlag::Reported(text.to_owned())));
        }
        for (text, expected) in [
            ("v1.35.0", "must match major/minor/patch"),
            ("v1.36.01", "must match major/minor/patch"),
            ("v1.36.0+", "semantic version"),
            ("v1.36.0-a..b", "semantic version"),
            ("v1.36.0+a+b", "semantic version"),
            ("1.36.0", "expected true, raw or a version"),
        ] {
            let error = text.parse::<VersionFlag>().unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        assert_eq!("raw".parse(), Ok(VersionFlag::PrintRaw));
        assert_eq!("false".parse(), Ok(VersionFlag::Own));
    }
}
