//! The versions under which one resource is served.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use planesmith_access::admission::Attributes;
use planesmith_control_plane::live_kinds::LiveKinds;
use planesmith_machinery::group_version::compare_versions;
use planesmith_machinery::resource::{ResourceFacts, SubresourceKind};
use planesmith_machinery::scheme::Scheme;

use crate::target::{Content, Target};

/// Finds the versions under which a resource is served: a rule about one of them may apply to requests for the others.
#[derive(Debug)]
pub struct Equivalents {
    scheme: Arc<Scheme>,
    kinds: LiveKinds,
    /// The served versions of declared kinds, by group and plural of the storage version and by subresource. They do not change
    /// while the server runs.
    declared: RwLock<HashMap<[String; 3], Arc<[Target]>>>,
}

impl Equivalents {
    /// Returns the versions of the kinds in `scheme` that are among the served `kinds`.
    #[must_use]
    pub fn new(scheme: &Arc<Scheme>, kinds: &LiveKinds) -> Self {
        Self {
            scheme: Arc::clone(scheme),
            kinds: kinds.clone(),
            declared: RwLock::default(),
        }
    }

    /// Returns `own`, the target of a request with `attributes`, in the other versions of its resource, the preferred version
    /// first.
    #[must_use]
    pub fn of(&self, attributes: &Attributes<'_>, own: &Target) -> Vec<Target> {
        let facts = attributes.resource;
        let others = |targets: &[Target]| -> Vec<Target> {
            let others = targets.iter().filter(|target| target.resource != own.resource);
            let content = |target: &Target| match own.content {
                // The objects have the kind that was sent, whatever the version of the path.
                Content::Posted(_) | Content::Options => Target {
                    resource: target.resource.clone(),
                    ..own.clone()
                },
                Content::Version(_) | Content::Scale => target.clone(),
            };
            others.map(content).collect()
        };
        let subresource = attributes.subresource;
        if let Some(versions) = facts.defined_versions() {
            let versions: Vec<_> = versions.collect();
            return others(&targets(versions.iter(), subresource));
        }
        let hub = facts.hub();
        let key = [hub.group.to_string(), hub.plural.to_string(), subresource.to_owned()];
        let declared = self
            .declared
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
            .cloned();
        let declared = declared.unwrap_or_else(|| {
            let found: Arc<[Target]> = targets(self.served(facts), subresource).into();
            let mut declared = self.declared.write().unwrap_or_else(PoisonError::into_inner);
            declared.insert(key, Arc::clone(&found));
            found
        });
        others(&declared)
    }

    /// Returns the served versions of a declared kind.
    fn served<'s>(&'s self, facts: &'s ResourceFacts) -> impl Iterator<Item = &'s ResourceFacts> {
        let versions = self.scheme.iter().filter(|version| version.is_version_of(facts));
        versions.filter(|version| {
            self.kinds
                .find(&version.group, &version.version, &version.kind)
                .is_some()
        })
    }
}

/// Returns the targets of `versions` that have the subresource, the preferred version first.
fn targets<'v>(versions: impl Iterator<Item = &'v ResourceFacts>, subresource: &str) -> Vec<Target> {
    let target = |version: &ResourceFacts| {
        if subresource.is_empty() {
            return Some(Target::of_version(version));
        }
        Some(match version.subresource(subresource)?.kind {
            SubresourceKind::Scale(_) => Target::of_scale(version),
            SubresourceKind::Status | SubresourceKind::Other => Target::of_version(version),
        })
    };
    let mut targets: Vec<Target> = versions.filter_map(target).collect();
    targets.sort_by(|left, right| {
        let groups = left.resource.group.cmp(&right.resource.group);
        groups.then_with(|| compare_versions(&left.resource.version, &right.resource.version))
    });
    targets
}
