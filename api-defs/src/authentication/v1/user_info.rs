//! Users in reviews.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;

/// Information about a user from the authenticator.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct UserInfo {
    /// Name of the user; unique among all active users.
    #[field(proto = 1)]
    pub username: String,
    /// UID of the user. A user who is deleted and created again under the same name has a different UID.
    #[field(proto = 2)]
    pub uid: String,
    /// Groups of the user.
    #[field(proto = 3, list_type = atomic)]
    pub groups: Vec<String>,
    /// Further information from the authenticator, such as the identity of the credential.
    #[field(proto = 4, go_type = "map[string]ExtraValue")]
    pub extra: BTreeMap<String, Vec<String>>,
}
