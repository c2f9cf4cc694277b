//! The policy that the labels of a namespace set for the security of its pods.

use std::collections::BTreeMap;
use std::fmt;

use planesmith_machinery::field_error::FieldErrors;

/// The prefix of the labels.
pub(super) const PREFIX: &str = "pod-security.kubernetes.io/";

/// The minor version of Kubernetes that is served.
const NEWEST_MINOR: u32 = 36;

/// The strictness of a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// No restrictions.
    #[default]
    Privileged,
    /// Prevents known escalations to power over the node.
    Baseline,
    /// For hardened pods.
    Restricted,
}

/// The version of Kubernetes whose policy applies; policies grow over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Version {
    /// 1.x.
    Minor(u32),
    /// The version of this server.
    #[default]
    Latest,
}

/// A level in a version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LevelVersion {
    pub(super) level: Level,
    pub(super) version: Version,
}

/// The levels at which pods are refused, recorded in the audit log, and warned about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Policy {
    pub(super) enforce: LevelVersion,
    pub(super) audit: LevelVersion,
    pub(super) warn: LevelVersion,
}

impl Level {
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "privileged" => Ok(Level::Privileged),
            "baseline" => Ok(Level::Baseline),
            "restricted" => Ok(Level::Restricted),
            _ => Err("must be one of privileged, baseline, restricted"),
        }
    }
}

impl Version {
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        const EXPECTED: &str = "must be \"latest\" or \"v1.x\"";
        if text == "latest" {
            return Ok(Version::Latest);
        }
        let minor = text.strip_prefix("v1.").ok_or(EXPECTED)?;
        let canonical = minor == "0" || !minor.starts_with('0');
        if !canonical || !minor.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(EXPECTED);
        }
        minor.parse().map(Version::Minor).map_err(|_| EXPECTED)
    }
}

impl LevelVersion {
    /// The version as metrics name it.
    pub(super) fn counted_version(&self) -> String {
        match self.version {
            _ if self.level == Level::Privileged => Version::Latest.to_string(),
            Version::Minor(minor) if minor > NEWEST_MINOR => "future".to_owned(),
            version => version.to_string(),
        }
    }

    /// True if both accept the same pods.
    fn is_as(&self, other: &Self) -> bool {
        self == other || self.level == Level::Privileged && other.level == Level::Privileged
    }
}

impl Policy {
    /// Returns the policy of a namespace with `labels`, and the problems of the labels. Modes without a label are as
    /// in `self`.
    ///
    /// An invalid label refuses as much as possible, and neither warns nor audits.
    pub(super) fn of_labels(&self, labels: &BTreeMap<String, String>) -> (Self, FieldErrors) {
        let mut policy = *self;
        let mut errors = FieldErrors::default();
        let label = |name: &str| labels.get(&format!("{PREFIX}{name}")).map(String::as_str);
        let enforce = label("enforce").map(|text| (text, Level::parse(text)));
        let warn = label("warn").map(|text| (text, Level::parse(text)));
        if let Some((text, level)) = enforce {
            policy.enforce.level = level.unwrap_or(Level::Restricted);
            report(&mut errors, "enforce", text, &level);
        }
        read_version(
            &mut errors,
            "enforce-version",
            label("enforce-version"),
            &mut policy.enforce,
        );
        if let Some(text) = label("audit") {
            let level = Level::parse(text);
            policy.audit.level = level.unwrap_or(Level::Privileged);
            report(&mut errors, "audit", text, &level);
        }
        read_version(&mut errors, "audit-version", label("audit-version"), &mut policy.audit);
        if let Some((text, level)) = warn {
            policy.warn.level = level.unwrap_or(Level::Privileged);
            report(&mut errors, "warn", text, &level);
        }
        read_version(&mut errors, "warn-version", label("warn-version"), &mut policy.warn);
        // Warn where nothing is refused, too, as about templates, if enforcement is on.
        let is_enforced = enforce.is_some_and(|(_, level)| level.is_ok());
        if warn.is_none() && is_enforced && policy.enforce.level > policy.warn.level {
            policy.warn.level = policy.enforce.level;
            if label("warn-version").is_none() {
                policy.warn.version = policy.enforce.version;
            }
        }
        (policy, errors)
    }

    /// True if nothing is refused, audited or warned about.
    pub(super) fn is_privileged(&self) -> bool {
        [self.enforce, self.audit, self.warn]
            .iter()
            .all(|mode| mode.level == Level::Privileged)
    }

    /// True if both treat every pod alike.
    pub(super) fn is_as(&self, other: &Self) -> bool {
        self.enforce.is_as(&other.enforce) && self.audit.is_as(&other.audit) && self.warn.is_as(&other.warn)
    }

    /// Returns the modes with their names.
    pub(super) fn modes(&self) -> [(&'static str, LevelVersion); 3] {
        [("enforce", self.enforce), ("audit", self.audit), ("warn", self.warn)]
    }
}

fn read_version(errors: &mut FieldErrors, name: &str, text: Option<&str>, into: &mut LevelVersion) {
    if let Some(text) = text {
        let version = Version::parse(text);
        into.version = version.unwrap_or(Version::Latest);
        report(errors, name, text, &version);
    }
}

fn report<T>(errors: &mut FieldErrors, name: &str, text: &str, parsed: &Result<T, &'static str>) {
    if let Err(why) = parsed {
        errors.invalid(&format!("metadata.labels[{PREFIX}{name}]"), text, *why);
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Privileged => "privileged",
            Level::Baseline => "baseline",
            Level::Restricted => "restricted",
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Version::Minor(minor) => write!(f, "v1.{minor}"),
            Version::Latest => f.write_str("latest"),
        }
    }
}

impl fmt::Display for LevelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.level, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(labels: &[(&str, &str)]) -> (Policy, Vec<String>) {
        let labels = labels
            .iter()
            .map(|(name, value)| (format!("{PREFIX}{name}"), (*value).to_owned()));
        let (policy, errors) = Policy::default().of_labels(&labels.collect());
        (policy, errors.as_slice().iter().map(|error| error.message()).collect())
    }

    fn rendered(labels: &[(&str, &str)]) -> String {
        let modes = policy(labels).0.modes();
        modes.map(|(_, mode)| mode.to_string()).join(" ")
    }

    #[test]
    fn labels_make_a_policy() {
        assert_eq!(rendered(&[]), "privileged:latest privileged:latest privileged:latest");
        assert_eq!(
            rendered(&[("audit", "baseline"), ("audit-version", "v1.22")]),
            "privileged:latest baseline:v1.22 privileged:latest"
        );
    }

    #[test]
    fn an_enforced_level_is_also_the_warned_level() {
        assert_eq!(
            rendered(&[("enforce", "baseline"), ("enforce-version", "v1.30")]),
            "baseline:v1.30 privileged:latest baseline:v1.30"
        );
        assert_eq!(
            rendered(&[("enforce", "baseline"), ("warn", "privileged")]),
            "baseline:latest privileged:latest privileged:latest"
        );
    }

    #[test]
    fn labels_without_sense_refuse_and_say_nothing() {
        let (made, errors) = policy(&[("enforce", "strict"), ("warn", "x"), ("audit-version", "v1.01")]);
        assert_eq!(
            (made.enforce.level, made.warn.level),
            (Level::Restricted, Level::Privileged)
        );
        assert_eq!(
            errors,
            [
                "metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: \"strict\": must be one of \
                 privileged, baseline, restricted",
                "metadata.labels[pod-security.kubernetes.io/audit-version]: Invalid value: \"v1.01\": must be \"latest\" \
                 or \"v1.x\"",
                "metadata.labels[pod-security.kubernetes.io/warn]: Invalid value: \"x\": must be one of privileged, \
                 baseline, restricted",
            ]
        );
    }
}
