//! Registrations of group versions.

use std::collections::HashMap;

use planesmith_control_plane::service_resolver::ServicePort;
use planesmith_machinery::group_version::compare_versions;
use planesmith_server::discovery::{ListedGroup, VersionPriority};

/// A registration: a group version, its discovery priority and its server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The registration's name, which orders registrations of equal priority.
    pub name: String,
    /// The group version and its priority.
    pub priority: VersionPriority,
    /// The server of the group version; `None` for a server of this chain.
    pub remote: Option<Remote>,
}

/// A server behind a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// The service of the server.
    pub service: ServicePort,
    /// The trust in the server's certificate.
    pub trust: RemoteTrust,
    /// True if the server receives requests.
    pub is_available: bool,
}

/// The trust in a server's certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteTrust {
    /// Trusts all certificates.
    Anyone,
    /// Trusts certificates signed by these authorities; PEM.
    Bundle(Vec<u8>),
    /// Trusts certificates signed by the operating system's authorities.
    System,
}

/// Returns the groups for unaggregated discovery, by priority, then by registration name; each with its versions by priority.
pub(crate) fn listed<'r>(registrations: impl Iterator<Item = &'r Registration>) -> Vec<ListedGroup> {
    let mut registrations: Vec<&Registration> = registrations.collect();
    registrations.sort_by_key(|registration| (-registration.priority.group_priority, &registration.name));
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<Vec<&VersionPriority>> = Vec::new();
    for registration in registrations {
        let place = *places.entry(&registration.priority.group).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(&registration.priority);
    }
    let groups = groups.into_iter().map(|mut versions| {
        versions.sort_by(|left, right| {
            let by_place = right.version_priority.cmp(&left.version_priority);
            by_place.then_with(|| compare_versions(&left.version, &right.version))
        });
        ListedGroup {
            name: versions[0].group.clone(),
            versions: versions.iter().map(|version| version.version.clone()).collect(),
        }
    });
    groups.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registration(version: &str, group: &str, group_priority: i32, version_priority: i32) -> Registration {
        Registration {
            name: format!("{version}.{group}"),
            priority: VersionPriority {
                group: group.to_owned(),
                version: version.to_owned(),
                group_priority,
                version_priority,
            },
            remote: None,
        }
    }

    fn order(registrations: &[Registration]) -> Vec<String> {
        let groups = listed(registrations.iter());
        let groups = groups
            .into_iter()
            .map(|group| format!("{} {}", group.name, group.versions.join(" ")));
        groups.collect()
    }

    #[test]
    fn the_best_version_places_its_group() {
        let registrations = [
            registration("v1", "aaa", 10, 5),
            registration("v1", "zzz", 10, 5),
            registration("v1alpha1", "zzz", 20, 1),
        ];
        assert_eq!(order(&registrations), ["zzz v1 v1alpha1", "aaa v1"]);
    }

    #[test]
    fn equal_places_follow_names_and_versions() {
        let registrations = [
            registration("v1beta1", "aaa", 10, 5),
            registration("v1", "bbb", 10, 5),
            registration("v2beta1", "ccc", 10, 9),
            registration("v1", "ccc", 10, 5),
        ];
        assert_eq!(order(&registrations), ["bbb v1", "ccc v2beta1 v1", "aaa v1beta1"]);
    }
}
