//! The identity of a client.

use std::collections::BTreeMap;

/// User name of requests without credentials.
pub const ANONYMOUS: &str = "system:anonymous";
/// Group of all requests without credentials.
pub const UNAUTHENTICATED_GROUP: &str = "system:unauthenticated";
/// Group of all requests with valid credentials.
pub const AUTHENTICATED_GROUP: &str = "system:authenticated";
/// Members may do everything, regardless of the authorization mode.
pub const PRIVILEGED_GROUP: &str = "system:masters";

/// A user, independent of the authentication method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserInfo {
    /// The unique user name; never empty for an authenticated request.
    pub name: String,
    /// A unique ID that is not reused when the name is; may be empty.
    pub uid: String,
    /// Group names, in the order in which authentication found them.
    pub groups: Vec<String>,
    /// Additional attributes, e.g. scopes.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl UserInfo {
    /// The user of a request without credentials.
    #[must_use]
    pub fn anonymous() -> Self {
        Self {
            name: ANONYMOUS.to_owned(),
            groups: vec![UNAUTHENTICATED_GROUP.to_owned()],
            ..Self::default()
        }
    }

    /// True if the user is a member of `group`.
    #[must_use]
    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|candidate| candidate == group)
    }
}
