//! What somebody may do, as a list.

/// What a user may do in a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// What may be done to resources.
    pub resources: Vec<ResourceRule>,
    /// What may be done to paths that are no resources.
    pub paths: Vec<PathRule>,
    /// Whether more may be allowed than is listed.
    pub incomplete: bool,
    /// What went wrong; what is listed holds all the same.
    pub errors: Vec<String>,
}

/// What may be done to resources; `*` stands for everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceRule {
    /// Verbs.
    pub verbs: Vec<String>,
    /// API groups.
    pub groups: Vec<String>,
    /// Resources, with subresources behind a slash.
    pub resources: Vec<String>,
    /// Names of objects; no limit when empty.
    pub names: Vec<String>,
}

/// What may be done to paths that are no resources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathRule {
    /// Methods in lower case; `*` for all.
    pub verbs: Vec<String>,
    /// Paths; a `*` at the end stands for anything.
    pub paths: Vec<String>,
}

impl Rules {
    /// Everything.
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

    /// Adds what another authorizer allows.
    pub fn append(&mut self, mut other: Rules) {
        self.resources.append(&mut other.resources);
        self.paths.append(&mut other.paths);
        self.incomplete |= other.incomplete;
        self.errors.append(&mut other.errors);
    }
}
