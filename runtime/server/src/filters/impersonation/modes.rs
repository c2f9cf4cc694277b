//! The modes of impersonation.
//!
//! The constrained modes need two permissions: one for the identity, and one for the action under that identity. The
//! legacy mode needs only the first, for all actions.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use planesmith_access::authentication::service_account::{
    node_of_pod, service_account_user, split_service_account_name,
};
use planesmith_access::authorization::{Authorizer, Target};
use planesmith_access::user::{
    ANONYMOUS, AUTHENTICATED_GROUP, NODE_PREFIX, NODES_GROUP, PRIVILEGED_GROUP, UNAUTHENTICATED_GROUP, UserInfo,
};
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_format::quote;
use planesmith_machinery::names;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::validation::check_domain_path;

use super::super::authorization::{refusal, target};
use crate::request::RequestInfo;

/// The extra key that replaces the extra values of a service account that acts for its node.
const NODE_KEYS: &str = "authentication.kubernetes.io/associated-node-keys";

/// From this number of values on, a first check is about all values together.
const MANY: usize = 4;
/// Number of users whose last successful mode is cached.
const CAPACITY: usize = 10_000;

/// The user that impersonates, and its request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Impersonator<'a> {
    pub(super) user: &'a UserInfo,
    pub(super) info: &'a RequestInfo,
    /// True if the constrained modes are tried before the legacy one.
    pub(super) is_constrained: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// A service account that acts as the node that its pod runs on.
    AssociatedNode,
    ArbitraryNode,
    ServiceAccount,
    UserInfo,
    /// The legacy mode: one permission for all actions.
    Legacy,
}

/// In the order of the attempts.
const MODES: [Mode; 5] = [
    Mode::AssociatedNode,
    Mode::ArbitraryNode,
    Mode::ServiceAccount,
    Mode::UserInfo,
    Mode::Legacy,
];

/// Tries one mode after the other; the one that succeeded last for a user is tried first.
#[derive(Debug)]
pub(super) struct Modes {
    authorizer: Arc<dyn Authorizer>,
    last: Mutex<HashMap<String, Mode>>,
}

impl Modes {
    pub(super) fn new(authorizer: Arc<dyn Authorizer>) -> Self {
        Self {
            authorizer,
            last: Mutex::default(),
        }
    }

    /// Returns the impersonated user, and the verb that allowed it in a constrained mode; empty in the legacy mode.
    ///
    /// # Errors
    ///
    /// 403 when no mode allows it, with the reason of the first mode that was tried.
    pub(super) async fn impersonate(
        &self,
        impersonator: &Impersonator<'_>,
        wanted: &UserInfo,
    ) -> ApiResult<(UserInfo, String)> {
        let last = self.last().get(&impersonator.user.name).copied();
        let others = MODES.into_iter().filter(|mode| Some(*mode) != last);
        let mut refused = None;
        for mode in last
            .into_iter()
            .chain(others)
            .filter(|mode| impersonator.is_constrained || *mode == Mode::Legacy)
            .filter(|mode| mode.is_for(impersonator.user, wanted))
        {
            match self.check(mode, impersonator, wanted).await {
                Ok(user) => {
                    self.remember(&impersonator.user.name, mode);
                    let verb = mode.word().map(|_| mode.verb());
                    return Ok((user, verb.unwrap_or_default()));
                }
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        // The legacy mode applies to all users.
        Err(refused.unwrap_or_else(|| ApiError::internal("all impersonation modes failed")))
    }

    fn last(&self) -> std::sync::MutexGuard<'_, HashMap<String, Mode>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, user: &str, mode: Mode) {
        let mut last = self.last();
        if last.get(user) == Some(&mode) {
            return;
        }
        if last.len() >= CAPACITY {
            last.clear();
        }
        last.insert(user.to_owned(), mode);
    }

    async fn check(&self, mode: Mode, impersonator: &Impersonator<'_>, wanted: &UserInfo) -> ApiResult<UserInfo> {
        let checks = ModeChecks {
            authorizer: &*self.authorizer,
            user: &mode.requestor(impersonator.user),
            verb: mode.verb(),
            mode,
        };
        if let Some(word) = mode.word() {
            let verb = format!("impersonate-on:{word}:{}", impersonator.info.verb_text());
            checks.may(&verb, target(impersonator.info)).await?;
        }
        let mut user = wanted.clone();
        checks.name(wanted, &mut user).await?;
        checks.uid(&wanted.uid).await?;
        checks.groups(&wanted.groups).await?;
        checks.extra(&wanted.extra).await?;
        let group = if user.name == ANONYMOUS {
            Some(UNAUTHENTICATED_GROUP)
        } else {
            (!user.is_in(UNAUTHENTICATED_GROUP)).then_some(AUTHENTICATED_GROUP)
        };
        if let Some(group) = group.filter(|group| !user.is_in(group)) {
            user.groups.push(group.to_owned());
        }
        Ok(user)
    }
}

impl Mode {
    /// The name of the mode in permissions; `None` for the legacy mode.
    fn word(self) -> Option<&'static str> {
        match self {
            Mode::AssociatedNode => Some("associated-node"),
            Mode::ArbitraryNode => Some("arbitrary-node"),
            Mode::ServiceAccount => Some("serviceaccount"),
            Mode::UserInfo => Some("user-info"),
            Mode::Legacy => None,
        }
    }

    fn verb(self) -> String {
        match self.word() {
            Some(word) => format!("impersonate:{word}"),
            None => "impersonate".to_owned(),
        }
    }

    /// True if this mode applies to the two users.
    fn is_for(self, requestor: &UserInfo, wanted: &UserInfo) -> bool {
        let only_name = wanted.uid.is_empty() && wanted.groups.is_empty() && wanted.extra.is_empty();
        let node = node_name(&wanted.name);
        let is_account = |user: &UserInfo| split_service_account_name(&user.name).is_some();
        match self {
            Mode::AssociatedNode => only_name && node.is_some() && node == node_of_pod(requestor),
            Mode::ArbitraryNode => only_name && node.is_some(),
            Mode::ServiceAccount => only_name && is_account(wanted),
            Mode::UserInfo => node.is_none() && !is_account(wanted),
            Mode::Legacy => true,
        }
    }

    /// The user to authorize: a service account that acts for its node is the same on every node.
    fn requestor(self, user: &UserInfo) -> UserInfo {
        let mut requestor = user.clone();
        if self == Mode::AssociatedNode {
            let keys = user.extra.keys().cloned().collect();
            requestor.extra = BTreeMap::from([(NODE_KEYS.to_owned(), keys)]);
        }
        requestor
    }
}

/// The authorization checks of one mode.
struct ModeChecks<'a> {
    authorizer: &'a dyn Authorizer,
    user: &'a UserInfo,
    verb: String,
    mode: Mode,
}

/// An identity to be impersonated.
struct Identity<'a> {
    group: &'a str,
    resource: &'a str,
    subresource: &'a str,
    namespace: &'a str,
    name: &'a str,
}

impl ModeChecks<'_> {
    async fn may(&self, verb: &str, target: Target<'_>) -> ApiResult<()> {
        let refuse = |reason: String| refusal(&self.user.name, verb, &target, &reason);
        let permitted = self.authorizer.permits(self.user, verb, target).await;
        permitted.map_err(refuse)
    }

    async fn may_be(&self, identity: &Identity<'_>) -> ApiResult<()> {
        self.may(&self.verb, identity.target()).await
    }

    fn refuse(&self, identity: &Identity<'_>, reason: &str) -> ApiResult<()> {
        Err(refusal(&self.user.name, &self.verb, &identity.target(), reason))
    }

    fn is_constrained(&self) -> bool {
        self.mode != Mode::Legacy
    }

    /// The API group of the resources that represent names of users and groups.
    fn group_of_names(&self) -> &'static str {
        match self.is_constrained() {
            true => AUTHENTICATION,
            false => "",
        }
    }

    /// Checks the name, and adds the groups that it implies.
    async fn name(&self, wanted: &UserInfo, user: &mut UserInfo) -> ApiResult<()> {
        let mut identity = Identity {
            group: self.group_of_names(),
            resource: "users",
            subresource: "",
            namespace: "",
            name: &wanted.name,
        };
        if let Some(node) = node_name(&wanted.name).filter(|_| self.is_constrained()) {
            identity.resource = "nodes";
            // One permission covers the node of every pod.
            identity.name = if self.mode == Mode::AssociatedNode { "*" } else { node };
            user.groups = vec![NODES_GROUP.to_owned()];
        }
        if let Some((namespace, name)) = split_service_account_name(&wanted.name) {
            identity.resource = "serviceaccounts";
            identity.namespace = namespace;
            identity.name = name;
            if wanted.groups.is_empty() {
                user.groups = service_account_user(namespace, name).groups;
            }
        }
        self.may_be(&identity).await
    }

    async fn uid(&self, uid: &str) -> ApiResult<()> {
        if uid.is_empty() {
            return Ok(());
        }
        self.may_be(&Identity::new(AUTHENTICATION, "uids", uid)).await
    }

    async fn groups(&self, groups: &[String]) -> ApiResult<()> {
        let identity = |name| Identity::new(self.group_of_names(), "groups", name);
        if self.is_constrained() {
            if groups.iter().any(String::is_empty) {
                return self.refuse(&identity(""), "impersonating the empty string group is not allowed");
            }
            if groups.iter().any(|group| group == PRIVILEGED_GROUP) {
                let reason = "impersonating the system:masters group is not allowed";
                return self.refuse(&identity(PRIVILEGED_GROUP), reason);
            }
            if groups.len() >= MANY && self.may_be(&identity("*")).await.is_ok() {
                return Ok(());
            }
        }
        for group in groups {
            self.may_be(&identity(group)).await?;
        }
        Ok(())
    }

    async fn extra(&self, extra: &BTreeMap<String, Vec<String>>) -> ApiResult<()> {
        let identity = |key, value| Identity {
            subresource: key,
            ..Identity::new(AUTHENTICATION, "userextras", value)
        };
        if self.is_constrained() && !extra.is_empty() {
            if let Some(problem) = extra.iter().find_map(|(key, values)| problem_of_extra(key, values)) {
                return self.refuse(&identity("", ""), &problem);
            }
            let number: usize = extra.values().map(Vec::len).sum();
            if number.max(extra.len()) >= MANY && self.may_be(&identity("*", "*")).await.is_ok() {
                return Ok(());
            }
        }
        for (key, values) in extra {
            for value in values {
                self.may_be(&identity(key, value)).await?;
            }
        }
        Ok(())
    }
}

const AUTHENTICATION: &str = "authentication.k8s.io";

impl<'a> Identity<'a> {
    fn new(group: &'a str, resource: &'a str, name: &'a str) -> Self {
        Self {
            group,
            resource,
            subresource: "",
            namespace: "",
            name,
        }
    }

    fn target(&self) -> Target<'a> {
        Target::Resource {
            group: self.group,
            version: "v1",
            resource: self.resource,
            subresource: self.subresource,
            namespace: self.namespace,
            name: self.name,
        }
    }
}

/// The reason that a constrained mode refuses an extra value. The legacy mode accepts all.
fn problem_of_extra(key: &str, values: &[String]) -> Option<String> {
    if key.is_empty() {
        return Some("impersonating the empty string key in extra is not allowed".to_owned());
    }
    let mut errors = FieldErrors::default();
    check_domain_path("extra.key", key, &mut errors);
    if let Some(why) = errors.joined() {
        return Some(format!("impersonating an invalid key in extra is not allowed: {why}"));
    }
    if key.chars().any(char::is_uppercase) {
        let key = quote(key);
        return Some(format!(
            "impersonating a non-lowercase key in extra is not allowed: {key}"
        ));
    }
    let is_empty = values.iter().any(String::is_empty);
    is_empty.then(|| "impersonating the empty string value in extra is not allowed".to_owned())
}

/// The node name in the user name of a node.
fn node_name(user: &str) -> Option<&str> {
    let name = user.strip_prefix(NODE_PREFIX)?;
    names::dns_subdomain(name).is_empty().then_some(name)
}
