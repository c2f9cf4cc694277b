//! A group version that a program can serve.

use planesmith_machinery::group_version::GroupVersionPriority;
use planesmith_machinery::object::Resource;
use planesmith_machinery::scheme::Scheme;
use planesmith_server::discovery::VersionPriority;
use planesmith_server::routes::Routes;
use planesmith_server::stores::Stores;

/// One group version that a program can serve.
#[derive(Clone, Copy, Debug)]
pub struct GroupVersion {
    /// API group; empty for the core group.
    pub group: &'static str,
    /// Version in the group.
    pub version: &'static str,
    /// False if the version is served only when `--runtime-config` names it.
    pub on_by_default: bool,
    /// Its priorities in lists.
    pub priority: GroupVersionPriority,
    /// Adds its kinds to a scheme.
    pub register: fn(&mut Scheme),
    /// Serves its kinds.
    pub install: fn(&mut Routes, &Stores),
}

impl GroupVersion {
    /// A group version with one kind, which is on by default and has the priorities of custom resources.
    #[must_use]
    pub const fn of_kind<R: Resource>(group: &'static str, version: &'static str) -> Self {
        Self {
            group,
            version,
            on_by_default: true,
            priority: GroupVersionPriority::CUSTOM,
            register: |scheme| {
                scheme.add::<R>();
            },
            install: |routes, stores| routes.serve::<R>(stores),
        }
    }

    /// The same group version with other priorities in lists.
    #[must_use]
    pub const fn with_priority(self, priority: GroupVersionPriority) -> Self {
        Self { priority, ..self }
    }

    /// Returns its priorities in the form of the server's configuration.
    #[must_use]
    pub fn version_priority(&self) -> VersionPriority {
        VersionPriority {
            group: self.group.to_owned(),
            version: self.version.to_owned(),
            group_priority: self.priority.group,
            version_priority: self.priority.version,
        }
    }

    /// `v1` or `group/version`.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// `api/v1` or `apis/group/version`.
    #[must_use]
    pub fn path(&self) -> String {
        let root = if self.group.is_empty() { "api" } else { "apis" };
        format!("{root}/{}", self.api_version())
    }
}
