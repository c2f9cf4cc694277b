//! Users as reviews show them.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;

/// A user, as authentication found it.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct UserInfo {
    /// Name; unique among all active users.
    #[field(proto = 1)]
    pub username: String,
    /// Identity in time: a user who is deleted and made again under the same name gets another one.
    #[field(proto = 2)]
    pub uid: String,
    /// Groups that the user is in.
    #[field(proto = 3, list_type = atomic)]
    pub groups: Vec<String>,
    /// Further information from the authenticator, such as the identity of the credential.
    #[field(proto = 4, go_type = "map[string]ExtraValue")]
    pub extra: BTreeMap<String, Vec<String>>,
}
