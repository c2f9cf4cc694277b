//! The identity of nodes: the users of kubelets.

use planesmith_access::user::UserInfo;

const PREFIX: &str = "system:node:";
const GROUP: &str = "system:nodes";

/// Returns the name of the node that a user is; `None` for all other users. The name is empty if the user name has none.
pub(crate) fn node_of(user: &UserInfo) -> Option<&str> {
    let name = user.name.strip_prefix(PREFIX)?;
    user.is_in(GROUP).then_some(name)
}
