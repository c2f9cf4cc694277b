//! The registry of all kinds of a server, in all their versions.

mod paths;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use planesmith_clock::Clock;

use crate::environment::Environment;
use crate::feature::Features;
use crate::go_format::quote;
use crate::group_version::{GroupKind, GroupVersionKind, GroupVersionResource, compare_versions};
use crate::resource::object::Resource;
use crate::resource::{ResourceFacts, Text};

/// The kinds of a server, in registration order.
///
/// A lookup by name takes three hash lookups and no allocation.
#[derive(Clone, Debug, Default)]
pub struct Scheme {
    kinds: Vec<ResourceFacts>,
    groups: HashMap<Text, HashMap<Text, Names>>,
    problems: Vec<SchemeError>,
    /// By group and kind of the storage version.
    ttls: HashMap<GroupKind, Duration>,
    environment: Environment,
    storage_media_type: StorageMediaType,
}

/// The encoding of objects in a store that other servers read, too (`--storage-media-type`). Kinds without protobuf are stored
/// in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StorageMediaType {
    /// `application/vnd.kubernetes.protobuf`.
    #[default]
    Protobuf,
    /// `application/json`.
    Json,
    /// `application/yaml`.
    Yaml,
}

#[derive(Clone, Debug, Default)]
struct Names {
    kinds: HashMap<Text, ResourceFacts>,
    resources: HashMap<Text, ResourceFacts>,
}

/// The reasons for which kinds conflict.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemeError {
    /// Two types claim one kind.
    #[error("the kind {0} is defined twice; give one of the two types another kind or version")]
    KindTaken(GroupVersionKind),
    /// Two kinds claim one path.
    #[error("the resource {resource} is claimed by {first} and {second}; give one of them another plural")]
    ResourceTaken {
        /// The name that both claim.
        resource: GroupVersionResource,
        /// The kind that was added first.
        first: Text,
        /// The kind that was added later.
        second: Text,
    },
    /// The storage version of a kind is itself converted to another version.
    #[error("the storage version of {kind} is {hub}, which has a storage version of its own; name that one")]
    HubConverts {
        /// The older version.
        kind: GroupVersionKind,
        /// The storage version that it names.
        hub: GroupVersionKind,
    },
    /// The storage version of a kind was not added.
    #[error("the storage version of {kind} is {hub}, which was not added; add it too")]
    HubMissing {
        /// The older version.
        kind: GroupVersionKind,
        /// The storage version that it names.
        hub: GroupVersionKind,
    },
    /// Two versions of a kind are both storage versions, so that each would overwrite what the other one stores.
    #[error(
        "{older} and {newer} are both storage versions of one kind, and each would erase fields of the other's objects; \
         add `storage_version = ...` with the type of {newer} to the `#[resource(...)]` of {older}"
    )]
    TwoStorageVersions {
        /// The one of lower priority.
        older: GroupVersionKind,
        /// The one of higher priority.
        newer: GroupVersionKind,
    },
    /// A path in an attribute of a kind leads nowhere, or to a value that does not fit.
    #[error("{kind}: `{key}` names {path:?}, {problem}")]
    UnsuitablePath {
        /// The kind.
        kind: GroupVersionKind,
        /// The key in its `#[resource(...)]`.
        key: &'static str,
        /// The path.
        path: Text,
        /// The reason.
        problem: &'static str,
    },
    /// Two kinds have the same keys in the store.
    #[error(
        "{first} and {second} would both store objects under {prefix}; add `storage_name = \"...\"` with another name to the \
         `#[resource(...)]` of one of them"
    )]
    KeysShared {
        /// The kind that was added first.
        first: GroupVersionKind,
        /// The kind that was added later.
        second: GroupVersionKind,
        /// The keys of both begin with this.
        prefix: String,
    },
    /// Two kinds of a group have the same name for clients: a plural, singular or short name.
    #[error(
        "{first} and {second} are both called {name:?} by clients; give one of them another plural, singular or short name"
    )]
    NameShared {
        /// The kind that was added first.
        first: GroupVersionKind,
        /// The kind that was added later.
        second: GroupVersionKind,
        /// The name.
        name: Text,
    },
}

impl Scheme {
    /// Returns a scheme without kinds.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `R`. [`Scheme::check`] reports collisions, so that registration reads as a list.
    pub fn add<R: Resource>(&mut self) -> &mut Self {
        self.add_facts(R::RESOURCE)
    }

    /// Adds a kind by its facts.
    pub fn add_facts(&mut self, facts: &ResourceFacts) -> &mut Self {
        let names = self
            .groups
            .entry(facts.group.clone())
            .or_default()
            .entry(facts.version.clone())
            .or_default();
        if names.kinds.contains_key(&facts.kind) {
            self.problems.push(SchemeError::KindTaken(facts.group_version_kind()));
        } else if let Some(first) = names.resources.get(&facts.plural) {
            let resource = facts.group_version_resource();
            self.problems.push(SchemeError::ResourceTaken {
                resource,
                first: first.kind.clone(),
                second: facts.kind.clone(),
            });
        } else {
            names.kinds.insert(facts.kind.clone(), facts.clone());
            names.resources.insert(facts.plural.clone(), facts.clone());
            self.kinds.push(facts.clone());
        }
        self
    }

    /// Lets the objects of `kind` expire `ttl` after their last write.
    pub fn set_ttl(&mut self, kind: &ResourceFacts, ttl: Duration) -> &mut Self {
        self.ttls.insert(kind.hub().group_kind(), ttl);
        self
    }

    /// Returns the time after which objects of `kind` expire, counted from their last write; `None` means no limit.
    #[must_use]
    pub fn ttl(&self, kind: &ResourceFacts) -> Option<Duration> {
        self.ttls.get(&kind.hub().group_kind()).copied()
    }

    /// Decides the content of objects by `environment`. Default: [`Environment::defaults`].
    pub fn set_environment(&mut self, environment: Environment) -> &mut Self {
        self.environment = environment;
        self
    }

    /// Sets the encoding of objects in a store that other servers read, too. Default: protobuf.
    pub fn set_storage_media_type(&mut self, media_type: StorageMediaType) -> &mut Self {
        self.storage_media_type = media_type;
        self
    }

    /// Returns the encoding of objects in a store that other servers read, too.
    #[must_use]
    pub fn storage_media_type(&self) -> StorageMediaType {
        self.storage_media_type
    }

    /// Returns the properties of the server that decide the content of objects.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Returns the clock of the server.
    #[must_use]
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.environment.clock
    }

    /// Returns the features that decide the content of objects.
    #[must_use]
    pub fn features(&self) -> &Features {
        &self.environment.features
    }

    /// Checks that the kinds are consistent: names and store keys are unique, every kind has exactly one storage
    /// version, and the paths in attributes lead to values of a suitable type.
    ///
    /// # Errors
    ///
    /// All problems, those of names first. A server must not start if there are any.
    pub fn check(&self) -> Result<(), Vec<SchemeError>> {
        let mut problems = self.problems.clone();
        for facts in &self.kinds {
            let hub = facts.hub();
            let (kind, hub_kind) = (facts.group_version_kind(), hub.group_version_kind());
            if hub.conversion.is_some() {
                problems.push(SchemeError::HubConverts { kind, hub: hub_kind });
            } else if self.kind(&hub.group, &hub.version, &hub.kind).is_none() {
                problems.push(SchemeError::HubMissing { kind, hub: hub_kind });
            }
        }
        for facts in &self.kinds {
            paths::check_paths(facts, &mut problems);
        }
        self.check_keys(&mut problems);
        self.check_client_names(&mut problems);
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Reports kinds whose objects would be stored under the same keys.
    fn check_keys(&self, problems: &mut Vec<SchemeError>) {
        let stored = self
            .kinds
            .iter()
            .filter(|facts| facts.is_hub() && facts.behavior.is_stored());
        let stored: Vec<_> = stored.map(|facts| (facts.storage_prefix(), facts)).collect();
        for (index, (prefix, second)) in stored.iter().enumerate() {
            for (earlier, first) in &stored[..index] {
                let is_one_kind = first.group_kind() == second.group_kind();
                let (one, other) = (first.group_version_kind(), second.group_version_kind());
                if is_one_kind {
                    let (older, newer) = match compare_versions(&first.version, &second.version) == Ordering::Greater {
                        true => (one, other),
                        false => (other, one),
                    };
                    problems.push(SchemeError::TwoStorageVersions { older, newer });
                } else if prefix.starts_with(earlier.as_str()) || earlier.starts_with(prefix.as_str()) {
                    problems.push(SchemeError::KeysShared {
                        first: one,
                        second: other,
                        prefix: if prefix.len() < earlier.len() { prefix } else { earlier }.clone(),
                    });
                }
            }
        }
    }

    /// Reports names that are ambiguous for clients within a group: kubectl accepts plural, singular and short names
    /// alike, in any version.
    fn check_client_names(&self, problems: &mut Vec<SchemeError>) {
        let mut known: HashMap<(&str, &str), &ResourceFacts> = HashMap::new();
        for facts in self.iter().filter(|facts| facts.served) {
            let own = [&facts.plural, &facts.singular];
            for name in own.into_iter().chain(&*facts.short_names) {
                let first = *known.entry((&*facts.group, &**name)).or_insert(facts);
                if first.kind != facts.kind {
                    problems.push(SchemeError::NameShared {
                        first: first.group_version_kind(),
                        second: facts.group_version_kind(),
                        name: name.clone(),
                    });
                }
            }
        }
    }

    /// Returns the facts of a kind.
    #[must_use]
    pub fn kind(&self, group: &str, version: &str, kind: &str) -> Option<&ResourceFacts> {
        self.names(group, version)?.kinds.get(kind)
    }

    /// Returns the facts of the kind with a resource name.
    #[must_use]
    pub fn resource(&self, group: &str, version: &str, resource: &str) -> Option<&ResourceFacts> {
        self.names(group, version)?.resources.get(resource)
    }

    /// Returns the facts of a kind by the `apiVersion` and `kind` of an object.
    #[must_use]
    pub fn object_kind(&self, api_version: &str, kind: &str) -> Option<&ResourceFacts> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        self.kind(group, version, kind)
    }

    /// True if a kind is registered under the group and version.
    #[must_use]
    pub fn has_version(&self, group: &str, version: &str) -> bool {
        self.names(group, version).is_some()
    }

    /// Returns all kinds, in registration order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &ResourceFacts> {
        self.kinds.iter()
    }

    /// Returns all versions of a kind, in registration order.
    pub fn versions<'a>(&'a self, group: &'a str, kind: &'a str) -> impl Iterator<Item = &'a ResourceFacts> + 'a {
        self.iter()
            .filter(move |facts| facts.group == group && facts.kind == kind)
    }

    fn names(&self, group: &str, version: &str) -> Option<&Names> {
        self.groups.get(group)?.get(version)
    }
}

/// Returns the message that the kind is unknown to the scheme that kube-apiserver calls `scheme`.
#[must_use]
pub fn not_registered(kind: &str, api_version: &str, scheme: &str) -> String {
    let (kind, version, scheme) = (quote(kind), quote(api_version), quote(scheme));
    format!("no kind {kind} is registered for version {version} in scheme {scheme}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Resource;
    use crate::meta::ObjectMeta;

    /// A kind.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "test.example.com", version = "v1", kind = "Thing", plural = "things")]
    struct Thing {
        /// Metadata.
        metadata: ObjectMeta,
    }

    /// Another type of the same name.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "test.example.com", version = "v1", kind = "Thing", plural = "others")]
    struct SameKind {
        /// Metadata.
        metadata: ObjectMeta,
    }

    /// Another kind under the same path.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "test.example.com", version = "v1", kind = "Other", plural = "things")]
    struct SamePath {
        /// Metadata.
        metadata: ObjectMeta,
    }

    /// An older version.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(
        group = "test.example.com",
        version = "v1beta1",
        kind = "Thing",
        plural = "things",
        storage_version = Thing
    )]
    struct Older {
        /// Metadata.
        metadata: ObjectMeta,
    }

    #[test]
    fn kinds_are_found_by_either_name_and_kept_in_order() {
        let mut scheme = Scheme::new();
        scheme.add::<Older>().add::<Thing>();
        assert_eq!(scheme.check(), Ok(()));
        let found = scheme.kind("test.example.com", "v1", "Thing").expect("added");
        assert_eq!(scheme.resource("test.example.com", "v1", "things"), Some(found));
        assert_eq!(scheme.object_kind("test.example.com/v1", "Thing"), Some(found));
        assert!(scheme.kind("", "v1", "Thing").is_none());
        assert!(scheme.has_version("test.example.com", "v1beta1"));
        let versions: Vec<&str> = scheme
            .versions("test.example.com", "Thing")
            .map(|facts| &*facts.version)
            .collect();
        assert_eq!(versions, ["v1beta1", "v1"]);
    }

    #[test]
    fn collisions_are_reported_together() {
        let mut scheme = Scheme::new();
        scheme.add::<Thing>().add::<SameKind>().add::<SamePath>();
        let problems = scheme.check().expect_err("two collisions");
        assert_eq!(
            problems[0],
            SchemeError::KindTaken(Thing::RESOURCE.group_version_kind())
        );
        assert!(matches!(
            &problems[1],
            SchemeError::ResourceTaken {
                first,
                second,
                ..
            } if first == "Thing" && second == "Other"
        ));
    }

    #[test]
    fn storage_version_must_be_there() {
        let mut scheme = Scheme::new();
        scheme.add::<Older>();
        let problems = scheme.check().expect_err("no hub");
        let message = "the storage version of test.example.com/v1beta1, Kind=Thing is test.example.com/v1, Kind=Thing, \
                       which was not added; add it too";
        assert_eq!(problems[0].to_string(), message);
    }

    /// A newer version that says nothing of the other one.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "test.example.com", version = "v1beta2", kind = "Thing", plural = "things")]
    struct Forgotten {
        /// Metadata.
        metadata: ObjectMeta,
    }

    /// A kind of another group with the same keys, and names of its own twice.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "a.k8s.io", version = "v1", kind = "Rock", plural = "rocks", short("r"))]
    struct Rock {
        /// Metadata.
        metadata: ObjectMeta,
    }

    /// See [`Rock`].
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "b.k8s.io", version = "v1", kind = "Stone", storage_name = "rocks/stones")]
    struct Stone {
        /// Metadata.
        metadata: ObjectMeta,
    }

    /// See [`Rock`].
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "a.k8s.io", version = "v2", kind = "Reef", short("r"))]
    struct Reef {
        /// Metadata.
        metadata: ObjectMeta,
    }

    #[test]
    fn a_kind_has_one_storage_version() {
        for (first, second) in [
            (Thing::RESOURCE, Forgotten::RESOURCE),
            (Forgotten::RESOURCE, Thing::RESOURCE),
        ] {
            let mut scheme = Scheme::new();
            scheme.add_facts(first).add_facts(second);
            let problems = scheme.check().expect_err("two storage versions");
            let messages: Vec<String> = problems.iter().map(ToString::to_string).collect();
            assert_eq!(
                messages,
                [
                    "test.example.com/v1beta2, Kind=Thing and test.example.com/v1, Kind=Thing are both storage versions of one \
                     kind, and each would erase fields of the other's objects; add `storage_version = ...` with the type of \
                     test.example.com/v1, Kind=Thing to the `#[resource(...)]` of test.example.com/v1beta2, Kind=Thing"
                ]
            );
        }
    }

    #[test]
    fn kinds_share_neither_keys_nor_names() {
        let mut scheme = Scheme::new();
        scheme.add::<Rock>().add::<Stone>().add::<Reef>();
        let problems = scheme.check().expect_err("shared keys and names");
        let messages: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [
                "a.k8s.io/v1, Kind=Rock and b.k8s.io/v1, Kind=Stone would both store objects under /registry/rocks/; add \
                 `storage_name = \"...\"` with another name to the `#[resource(...)]` of one of them",
                "a.k8s.io/v1, Kind=Rock and a.k8s.io/v2, Kind=Reef are both called \"r\" by clients; give one of them another \
                 plural, singular or short name",
            ]
        );
    }
}
