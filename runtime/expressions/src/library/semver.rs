//! Semantic versions.

use std::cmp::Ordering;
use std::fmt;

/// A version.
#[derive(Debug)]
pub struct Semver {
    pub(crate) numbers: [u64; 3],
    pre: Vec<String>,
    build: String,
}

impl Semver {
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err("Version string empty");
        }
        let (text, build) = text.split_once('+').unwrap_or((text, ""));
        let (text, pre) = text
            .split_once('-')
            .map_or((text, None), |(text, pre)| (text, Some(pre)));
        let parts: Vec<&str> = text.splitn(3, '.').collect();
        let [major, minor, patch] = parts[..] else {
            return Err("No Major.Minor.Patch elements found");
        };
        let number = |text: &str| {
            if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err("Invalid character(s) found in version number");
            }
            if text.len() > 1 && text.starts_with('0') {
                return Err("Version number must not contain leading zeroes");
            }
            text.parse().map_err(|_| "Version number is out of range")
        };
        let is_word =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let pre: Vec<String> = pre
            .map(|pre| pre.split('.').map(str::to_owned).collect())
            .unwrap_or_default();
        let has_zero =
            |part: &String| part.len() > 1 && part.starts_with('0') && part.bytes().all(|byte| byte.is_ascii_digit());
        if !pre.iter().all(|part| is_word(part)) || pre.iter().any(has_zero) {
            return Err("Invalid prerelease");
        }
        if !build.is_empty() && !build.split('.').all(is_word) {
            return Err("Invalid build meta data");
        }
        Ok(Self {
            numbers: [number(major)?, number(minor)?, number(patch)?],
            pre,
            build: build.to_owned(),
        })
    }

    /// Removes a leading `v`, adds missing numbers and strips leading zeros.
    pub(crate) fn normalized(text: &str) -> String {
        let text = text.strip_prefix('v').unwrap_or(text);
        let end = text.find(['-', '+']).unwrap_or(text.len());
        let (numbers, rest) = text.split_at(end);
        let trimmed = |part: &str| {
            let digits = part.trim_start_matches('0');
            if digits.is_empty() && !part.is_empty() {
                "0".to_owned()
            } else {
                digits.to_owned()
            }
        };
        let mut parts: Vec<String> = numbers.split('.').map(trimmed).collect();
        while parts.len() < 3 {
            parts.push("0".to_owned());
        }
        format!("{}{rest}", parts.join("."))
    }

    pub(crate) fn cmp(&self, other: &Self) -> Ordering {
        self.numbers
            .cmp(&other.numbers)
            .then_with(|| match (self.pre.is_empty(), other.pre.is_empty()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => {
                    let parts = self
                        .pre
                        .iter()
                        .zip(&other.pre)
                        .map(|(one, other)| compare_part(one, other));
                    parts
                        .fold(Ordering::Equal, Ordering::then)
                        .then(self.pre.len().cmp(&other.pre.len()))
                }
            })
    }
}

fn compare_part(one: &str, other: &str) -> Ordering {
    match (one.parse::<u64>(), other.parse::<u64>()) {
        (Ok(one), Ok(other)) => one.cmp(&other),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => one.cmp(other),
    }
}

impl fmt::Display for Semver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        if !self.pre.is_empty() {
            write!(f, "-{}", self.pre.join("."))?;
        }
        if !self.build.is_empty() {
            write!(f, "+{}", self.build)?;
        }
        Ok(())
    }
}
