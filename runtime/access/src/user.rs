//! Who asks.

use std::collections::BTreeMap;

/// Name of a request without credentials.
pub const ANONYMOUS: &str = "system:anonymous";
/// Group of every request without credentials.
pub const UNAUTHENTICATED_GROUP: &str = "system:unauthenticated";
/// Group of every request with valid credentials.
pub const AUTHENTICATED_GROUP: &str = "system:authenticated";
/// Members may do everything, whatever the authorization mode says.
pub const PRIVILEGED_GROUP: &str = "system:masters";

/// A user as the rest of the server sees it, however it proved who it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserInfo {
    /// Unique name; never empty for an authenticated request.
    pub name: String,
    /// Identity that survives a name being given to someone else; may be empty.
    pub uid: String,
    /// Names of the groups, in the order in which they were found.
    pub groups: Vec<String>,
    /// Further facts, e.g. scopes.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl UserInfo {
    /// The user of a request that carries no credentials.
    #[must_use]
    pub fn anonymous() -> Self {
        Self {
            name: ANONYMOUS.to_owned(),
            groups: vec![UNAUTHENTICATED_GROUP.to_owned()],
            ..Self::default()
        }
    }

    /// Whether the user is a member of `group`.
    #[must_use]
    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|candidate| candidate == group)
    }
}
