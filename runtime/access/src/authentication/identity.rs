//! The result of a successful authentication.

use std::ops::Deref;
use std::sync::Arc;

use crate::user::UserInfo;

/// A user, and what its credentials ask to record about the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The user.
    pub user: Arc<UserInfo>,
    /// Remarks about the credentials; `None` for most.
    pub remarks: Option<Arc<Remarks>>,
}

/// Remarks about credentials that are valid. They accompany each request with them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Annotations of the audit event.
    pub annotations: Vec<(&'static str, String)>,
    /// Warnings for the client.
    pub warnings: Vec<&'static str>,
}

impl From<Arc<UserInfo>> for Identity {
    fn from(user: Arc<UserInfo>) -> Self {
        Self { user, remarks: None }
    }
}

impl Deref for Identity {
    type Target = UserInfo;

    fn deref(&self) -> &UserInfo {
        &self.user
    }
}
