//! A user's permissions as a list.

/// The permissions of a user in a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Permissions on resources.
    pub resources: Vec<ResourceRule>,
    /// Permissions on non-resource paths.
    pub paths: Vec<PathRule>,
    /// True if the user may have permissions that are not listed.
    pub incomplete: bool,
    /// Evaluation errors; the listed permissions are valid nevertheless.
    pub errors: Vec<String>,
}

/// A permission on resources; `*` matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceRule {
    /// Verbs.
    pub verbs: Vec<String>,
    /// API groups.
    pub groups: Vec<String>,
    /// Resources, with subresources after a slash.
    pub resources: Vec<String>,
    /// Object names; empty for all objects.
    pub names: Vec<String>,
}

/// A permission on non-resource paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathRule {
    /// HTTP methods in lower case; `*` for all.
    pub verbs: Vec<String>,
    /// Paths; a trailing `*` matches any suffix.
    pub paths: Vec<String>,
}

impl Rules {
    /// Returns all permissions.
    #[must_use]
    pub fn everything() -> Self {
        let all = || vec!["*".to_owned()];
        Self {
            resources: vec![ResourceRule {
                verbs: all(),
                groups: all(),
                resources: all(),
                names: Vec::new(),
            }],
            paths: vec![PathRule {
                verbs: all(),
                paths: all(),
            }],
            incomplete: false,
            errors: Vec::new(),
        }
    }

    /// Adds the permissions of another authorizer.
    pub fn append(&mut self, mut other: Rules) {
        self.resources.append(&mut other.resources);
        self.paths.append(&mut other.paths);
        self.incomplete |= other.incomplete;
        self.errors.append(&mut other.errors);
    }
}
