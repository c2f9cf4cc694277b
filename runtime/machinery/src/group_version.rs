//! Names of groups, versions, kinds and resources, and the preference order of versions.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// A part of a name: borrowed for compiled-in kinds, owned for kinds that are defined at run time.
pub type Part = Cow<'static, str>;

/// A group and one of its versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersion {
    /// API group; empty for the core group.
    pub group: Part,
    /// Version, e.g. `v1`.
    pub version: Part,
}

/// The priorities of a group version in lists, such as discovery documents: larger numbers come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupVersionPriority {
    /// Priority of the group, the same in all of its versions.
    pub group: i32,
    /// Priority of the version in its group.
    pub version: i32,
}

impl GroupVersionPriority {
    /// The priorities of custom resources, and of group versions that declare none.
    pub const CUSTOM: Self = Self::new(1000, 100);

    /// Returns the priorities of a group, and of a version in it.
    #[must_use]
    pub const fn new(group: i32, version: i32) -> Self {
        Self { group, version }
    }
}

/// A kind in a group and version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersionKind {
    /// API group; empty for the core group.
    pub group: Part,
    /// Version, e.g. `v1`.
    pub version: Part,
    /// Kind, e.g. `ConfigMap`.
    pub kind: Part,
}

/// A resource in a group and version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersionResource {
    /// API group; empty for the core group.
    pub group: Part,
    /// Version, e.g. `v1`.
    pub version: Part,
    /// Resource name in paths, e.g. `configmaps`.
    pub resource: Part,
}

/// A kind in a group, independent of the version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKind {
    /// API group; empty for the core group.
    pub group: Part,
    /// Kind, e.g. `ConfigMap`.
    pub kind: Part,
}

/// A resource in a group, independent of the version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupResource {
    /// API group; empty for the core group.
    pub group: Part,
    /// Resource name in paths, e.g. `configmaps`.
    pub resource: Part,
}

/// The text is not `version` or `group/version`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unexpected GroupVersion string: {0}")]
pub struct GroupVersionError(pub String);

impl GroupVersion {
    /// Returns the pair of `group` and `version`.
    pub fn new(group: impl Into<Part>, version: impl Into<Part>) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
        }
    }

    /// Parses an `apiVersion`: `v1` or `group/version`. Empty text and `/` are the empty pair.
    ///
    /// # Errors
    ///
    /// If there is more than one slash.
    pub fn parse(text: &str) -> Result<Self, GroupVersionError> {
        if text == "/" {
            return Ok(Self::default());
        }
        match text.split_once('/') {
            None => Ok(Self::new("", text.to_owned())),
            Some((_, version)) if version.contains('/') => Err(GroupVersionError(text.to_owned())),
            Some((group, version)) => Ok(Self::new(group.to_owned(), version.to_owned())),
        }
    }

    /// Returns `text`, an `apiVersion`, as clients receive it: `/v1` names the version `v1` of the group without a name.
    #[must_use]
    pub fn canonical(text: &str) -> &str {
        match text.strip_prefix('/') {
            Some(version) if !version.contains('/') => version,
            _ => text,
        }
    }

    /// Returns the kind of this name in the group and version.
    pub fn with_kind(&self, kind: impl Into<Part>) -> GroupVersionKind {
        GroupVersionKind {
            group: self.group.clone(),
            version: self.version.clone(),
            kind: kind.into(),
        }
    }

    /// Returns the resource of this name in the group and version.
    pub fn with_resource(&self, resource: impl Into<Part>) -> GroupVersionResource {
        GroupVersionResource {
            group: self.group.clone(),
            version: self.version.clone(),
            resource: resource.into(),
        }
    }
}

impl GroupVersionKind {
    /// Combines the three parts.
    pub fn new(group: impl Into<Part>, version: impl Into<Part>, kind: impl Into<Part>) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
        }
    }

    /// Returns the group and version.
    #[must_use]
    pub fn group_version(&self) -> GroupVersion {
        GroupVersion {
            group: self.group.clone(),
            version: self.version.clone(),
        }
    }

    /// Returns the kind without the version.
    #[must_use]
    pub fn group_kind(&self) -> GroupKind {
        GroupKind {
            group: self.group.clone(),
            kind: self.kind.clone(),
        }
    }
}

impl GroupVersionResource {
    /// Combines the three parts.
    pub fn new(group: impl Into<Part>, version: impl Into<Part>, resource: impl Into<Part>) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
            resource: resource.into(),
        }
    }

    /// Returns the group and version.
    #[must_use]
    pub fn group_version(&self) -> GroupVersion {
        GroupVersion {
            group: self.group.clone(),
            version: self.version.clone(),
        }
    }

    /// Returns the resource without the version.
    #[must_use]
    pub fn group_resource(&self) -> GroupResource {
        GroupResource {
            group: self.group.clone(),
            resource: self.resource.clone(),
        }
    }
}

impl GroupKind {
    /// Combines the two parts.
    pub fn new(group: impl Into<Part>, kind: impl Into<Part>) -> Self {
        Self {
            group: group.into(),
            kind: kind.into(),
        }
    }
}

impl GroupResource {
    /// Combines the two parts.
    pub fn new(group: impl Into<Part>, resource: impl Into<Part>) -> Self {
        Self {
            group: group.into(),
            resource: resource.into(),
        }
    }

    /// True if both parts are empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.group.is_empty() && self.resource.is_empty()
    }
}

/// `v1` or `group/version`.
impl fmt::Display for GroupVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.group.as_ref() {
            "" => f.write_str(&self.version),
            group => write!(f, "{group}/{}", self.version),
        }
    }
}

/// `group/version, Kind=kind`; the slash is printed even without a group.
impl fmt::Display for GroupVersionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}, Kind={}", self.group, self.version, self.kind)
    }
}

/// `group/version, Resource=resource`; the slash is printed even without a group.
impl fmt::Display for GroupVersionResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}, Resource={}", self.group, self.version, self.resource)
    }
}

/// `Kind` or `Kind.group`.
impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        qualified(f, &self.kind, &self.group)
    }
}

/// `resource` or `resource.group`.
impl fmt::Display for GroupResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        qualified(f, &self.resource, &self.group)
    }
}

fn qualified(f: &mut fmt::Formatter<'_>, name: &str, group: &str) -> fmt::Result {
    match group {
        "" => f.write_str(name),
        group => write!(f, "{name}.{group}"),
    }
}

/// Orders versions from most to least preferred: `v2`, `v1`, `v2beta1`, `v1beta2`, `v1alpha1`, then any other text in
/// alphabetic order.
///
/// Source: Kubernetes documentation, "Versions in CustomResourceDefinitions", version priority.
#[must_use]
pub fn compare_versions(left: &str, right: &str) -> Ordering {
    match (Priority::from_version(left), Priority::from_version(right)) {
        (Some(left), Some(right)) => right.cmp(&left),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => left.cmp(right),
    }
}

/// Stability, major and minor number; a greater value is preferred.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Priority(Stability, u64, u64);

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Stability {
    Alpha,
    Beta,
    Stable,
}

impl Priority {
    fn from_version(version: &str) -> Option<Self> {
        let (major, rest) = leading_number(version.strip_prefix('v')?)?;
        if rest.is_empty() {
            return Some(Self(Stability::Stable, major, 0));
        }
        let (stability, rest) = match rest.strip_prefix("alpha") {
            Some(rest) => (Stability::Alpha, rest),
            None => (Stability::Beta, rest.strip_prefix("beta")?),
        };
        match leading_number(rest)? {
            (minor, "") => Some(Self(stability, major, minor)),
            _ => None,
        }
    }
}

fn leading_number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_stability_then_number() {
        let mut versions = [
            "foo1", "v1alpha1", "v1beta10", "v11", "v1", "v1beta2", "foo10", "v10", "v2beta1", "v1alpha",
        ];
        versions.sort_by(|left, right| compare_versions(left, right));
        let expected = [
            "v11", "v10", "v1", "v2beta1", "v1beta10", "v1beta2", "v1alpha1", "foo1", "foo10", "v1alpha",
        ];
        assert_eq!(versions, expected);
    }

    #[test]
    fn api_version_text_is_read_and_printed() {
        for text in ["v1", "apps/v1", ""] {
            assert_eq!(GroupVersion::parse(text).expect("legal").to_string(), text);
        }
        assert_eq!(GroupVersion::parse("/"), Ok(GroupVersion::default()));
        for (text, canonical) in [
            ("/v1", "v1"),
            ("/", ""),
            ("v1", "v1"),
            ("apps/v1", "apps/v1"),
            ("/a/b", "/a/b"),
        ] {
            assert_eq!(GroupVersion::canonical(text), canonical);
        }
        assert_eq!(GroupVersion::parse("/v1"), Ok(GroupVersion::new("", "v1")));
        let error = GroupVersion::parse("a/b/c").expect_err("two slashes");
        assert_eq!(error.to_string(), "unexpected GroupVersion string: a/b/c");
    }

    #[test]
    fn names_are_printed_as_messages_show_them() {
        assert_eq!(
            GroupVersionKind::new("", "v1", "ConfigMap").to_string(),
            "/v1, Kind=ConfigMap"
        );
        assert_eq!(
            GroupVersionResource::new("apps", "v1", "deployments").to_string(),
            "apps/v1, Resource=deployments"
        );
        assert_eq!(
            GroupResource::new("apps", "deployments").to_string(),
            "deployments.apps"
        );
        assert_eq!(GroupKind::new("", "Pod").to_string(), "Pod");
    }
}
