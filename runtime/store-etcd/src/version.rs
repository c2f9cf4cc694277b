//! The version of a member.

/// True if progress notifications of a member of `version` never come before the changes that they cover.
///
/// Releases before 3.4.31 and 3.5.13 have faults (etcd-io/etcd#15220 and #17507). kube-apiserver has the same limits.
pub(crate) fn orders_progress(version: &str) -> bool {
    match parse(version) {
        Some(version) => version >= (3, 5, 13) || ((3, 4, 31)..(3, 5, 0)).contains(&version),
        None => false,
    }
}

fn parse(version: &str) -> Option<(u32, u32, u32)> {
    let release = version.split(['-', '+']).next()?;
    let mut numbers = release.split('.').map(str::parse);
    let parsed = (numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?);
    // A candidate comes before its release.
    let is_candidate = version.contains('-');
    let (major, minor, patch): (u32, u32, u32) = parsed;
    match is_candidate {
        false => Some(parsed),
        true => Some((major, minor, patch.saturating_sub(1))),
    }
}

#[cfg(test)]
mod tests {
    use super::orders_progress;

    #[test]
    fn versions_with_faults_are_known() {
        for version in ["3.4.31", "3.4.40", "3.5.13", "3.5.21", "3.6.0", "4.0.0", "3.6.1+build"] {
            assert!(orders_progress(version), "{version}");
        }
        for version in [
            "3.4.23",
            "3.4.30",
            "3.5.0",
            "3.5.12",
            "3.5.13-rc.0",
            "3.3.9",
            "",
            "3.4",
            "new",
        ] {
            assert!(!orders_progress(version), "{version}");
        }
    }
}
