//! The identity of a client.

mod cache;
mod totals;

use std::collections::BTreeMap;

pub use cache::UserCache;
pub use totals::UserTotals;

/// User name of requests without credentials.
pub const ANONYMOUS: &str = "system:anonymous";
/// Group of all requests without credentials.
pub const UNAUTHENTICATED_GROUP: &str = "system:unauthenticated";
/// Group of all requests with valid credentials.
pub const AUTHENTICATED_GROUP: &str = "system:authenticated";
/// Members may do everything, regardless of the authorization mode.
pub const PRIVILEGED_GROUP: &str = "system:masters";
/// The prefix of the user names of nodes.
pub const NODE_PREFIX: &str = "system:node:";
/// Group of all nodes.
pub const NODES_GROUP: &str = "system:nodes";

/// Groups whose requests keep a cluster going, as the default flow schemas of kube-apiserver name them.
const SYSTEM_GROUPS: [&str; 3] = [PRIVILEGED_GROUP, NODES_GROUP, "system:serviceaccounts:kube-system"];
/// Users whose requests keep a cluster going.
const SYSTEM_USERS: [&str; 2] = ["system:kube-controller-manager", "system:kube-scheduler"];

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

    /// Returns the name of the node that the user is; `None` for all other users. It is empty if the user name has none.
    #[must_use]
    pub fn node_name(&self) -> Option<&str> {
        let name = self.name.strip_prefix(NODE_PREFIX)?;
        self.is_in(NODES_GROUP).then_some(name)
    }

    /// True for a request without credentials, under whatever name.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.name == ANONYMOUS || self.is_in(UNAUTHENTICATED_GROUP)
    }

    /// True for administrators, nodes and the controllers of the cluster: load from other users must not keep them out.
    #[must_use]
    pub fn is_system(&self) -> bool {
        SYSTEM_USERS.contains(&self.name.as_str()) || SYSTEM_GROUPS.iter().any(|group| self.is_in(group))
    }
}
