//! Legal groups, versions, kinds and plurals, and the derivation of names from each other.

use std::fmt::Write;

/// Returns the problem if `group` is not a legal API group. The empty group is the core group.
#[must_use]
pub fn group_problem(group: &str) -> Option<&'static str> {
    let label = |label: &str| is_label(label) && label.len() <= 63;
    if group.is_empty() || (group.len() <= 253 && group.split('.').all(label)) {
        return None;
    }
    Some("a group is a DNS name in lower case such as \"shop.example.com\", or \"\" for the core group")
}

/// Returns the problem if `version` is not a legal API version.
#[must_use]
pub fn version_problem(version: &str) -> Option<&'static str> {
    if version_parts(version).is_some() {
        return None;
    }
    Some("a version is `v1`, or `v1alpha1` or `v1beta1` with other numbers")
}

/// Parses a version to its stability and numbers. Their order is the preference of clients: larger is better.
#[must_use]
pub fn version_parts(version: &str) -> Option<(Stability, u32, u32)> {
    let number = |text: &str| (!text.starts_with('0')).then(|| text.parse::<u32>().ok()).flatten();
    let rest = version.strip_prefix('v')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (major, rest) = rest.split_at(digits);
    let major = number(major)?;
    if rest.is_empty() {
        return Some((Stability::General, major, 0));
    }
    for (word, stability) in [("alpha", Stability::Alpha), ("beta", Stability::Beta)] {
        if let Some(minor) = rest.strip_prefix(word)
            && minor.bytes().all(|byte| byte.is_ascii_digit())
        {
            return Some((stability, major, number(minor)?));
        }
    }
    None
}

/// The stability level of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stability {
    /// `v1alpha1`.
    Alpha,
    /// `v1beta1`.
    Beta,
    /// `v1`.
    General,
}

/// Returns the problem if `kind` is not a legal kind.
#[must_use]
pub fn kind_problem(kind: &str) -> Option<&'static str> {
    let legal = kind.starts_with(|first: char| first.is_ascii_uppercase())
        && kind.len() <= 63
        && kind.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (!legal).then_some("a kind is one word in upper camel case such as `ConfigMap`, up to 63 letters and digits")
}

/// Returns the problem if `name` is not legal in a resource path. Applies to plurals, singulars, short names and subresources.
#[must_use]
pub fn resource_problem(name: &str) -> Option<&'static str> {
    let legal = is_label(name) && name.len() <= 63 && name.starts_with(|first: char| first.is_ascii_lowercase());
    (!legal).then_some("use lower-case letters, digits and `-`, starting with a letter, up to 63 characters")
}

/// Returns the problem if `name` is not legal in the keys of the store. Such a name consists of one or more path parts.
#[must_use]
pub fn storage_problem(name: &str) -> Option<&'static str> {
    // A part can be the name of a group.
    name.split(['/', '.']).find_map(resource_problem)
}

fn is_label(label: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !label.is_empty() && !label.starts_with('-') && !label.ends_with('-') && label.bytes().all(inner)
}

/// Returns the plural of a lower-case word: `policies`, `classes`, `pods`.
#[must_use]
pub fn plural(singular: &str) -> String {
    let vowel_before_y = ["ay", "ey", "iy", "oy", "uy"].iter().any(|end| singular.ends_with(end));
    if let Some(stem) = singular.strip_suffix('y')
        && !vowel_before_y
    {
        return format!("{stem}ies");
    }
    let hissing = ["s", "x", "z", "ch", "sh"].iter().any(|end| singular.ends_with(end));
    format!("{singular}{}", if hissing { "es" } else { "s" })
}

/// Returns the JSON name of a Rust field: `cluster_ip` becomes `clusterIp`.
#[must_use]
pub fn camel_case(field: &str) -> String {
    let mut name = String::with_capacity(field.len());
    let mut raise = false;
    for letter in field.chars() {
        if letter == '_' {
            raise = !name.is_empty();
        } else if raise {
            name.extend(letter.to_uppercase());
            raise = false;
        } else {
            name.push(letter);
        }
    }
    name
}

/// Returns `v1` for the core group, `group/version` for others.
#[must_use]
pub fn api_version(group: &str, version: &str) -> String {
    let mut text = String::from(group);
    if !group.is_empty() {
        text.push('/');
    }
    let _ = write!(text, "{version}");
    text
}

/// Returns the candidate that is most similar to `word`, if it is similar enough to be a suggestion.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(1);
    let starts_like =
        |candidate: &str| candidate.len() > 2 && (word.starts_with(candidate) || candidate.starts_with(word));
    candidates
        .into_iter()
        .map(|candidate| (edits(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= limit || starts_like(candidate))
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns the edit distance of two words: letters to change, insert, delete or swap with their neighbour.
fn edits(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.to_lowercase().chars().collect();
    let to: Vec<char> = to.to_lowercase().chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (i, letter) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, other) in to.iter().enumerate() {
            let mut cost = (above[j + 1] + 1)
                .min(row[j] + 1)
                .min(above[j] + usize::from(letter != other));
            if i > 0 && j > 0 && *letter == to[j - 1] && from[i - 1] == *other {
                cost = cost.min(before[j - 1] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_follow_english() {
        for (singular, expected) in [
            ("pod", "pods"),
            ("priorityclass", "priorityclasses"),
            ("networkpolicy", "networkpolicies"),
            ("gateway", "gateways"),
            ("ingress", "ingresses"),
            ("batch", "batches"),
        ] {
            assert_eq!(plural(singular), expected);
        }
    }

    #[test]
    fn json_names_are_camel_case() {
        for (field, expected) in [
            ("spec", "spec"),
            ("resource_version", "resourceVersion"),
            ("_x", "x"),
            ("a_1b", "a1b"),
        ] {
            assert_eq!(camel_case(field), expected);
        }
    }

    #[test]
    fn versions_sort_as_clients_prefer_them() {
        let mut versions = ["v1alpha1", "v1", "v2beta1", "v2", "v1beta2", "v10"];
        versions.sort_by_key(|version| version_parts(version));
        assert_eq!(versions, ["v1alpha1", "v1beta2", "v2beta1", "v1", "v2", "v10"]);
        for wrong in [
            "1", "v", "v0", "V1", "v1gamma1", "v1alpha", "v01", "v1beta0", "v1beta1x",
        ] {
            assert!(version_problem(wrong).is_some(), "{wrong}");
        }
    }

    #[test]
    fn groups_are_dns_names() {
        for right in ["", "apps", "shop.example.com", "a-b.c1"] {
            assert!(group_problem(right).is_none(), "{right}");
        }
        for wrong in ["Apps", "a..b", "-a", "a_b", "a/b", " "] {
            assert!(group_problem(wrong).is_some(), "{wrong}");
        }
    }

    #[test]
    fn near_matches_are_offered_and_far_ones_are_not() {
        let keys = ["plural", "group", "version", "list_type", "list_map_keys"];
        assert_eq!(nearest("plurals", keys), Some("plural"));
        assert_eq!(nearest("verison", keys), Some("version"));
        assert_eq!(nearest("listType", keys), Some("list_type"));
        assert_eq!(nearest("colour", keys), None);
    }
}
