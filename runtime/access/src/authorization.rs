//! Authorization: decides if a user may perform an action.

mod modes;
mod rules;

use crate::user::UserInfo;

pub use modes::{AllowedPaths, AlwaysAllow, AlwaysDeny, PrivilegedGroup};
pub use rules::{PathRule, ResourceRule, Rules};

/// The attributes of an authorization request.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    /// The user who acts.
    pub user: &'a UserInfo,
    /// The verb, e.g. `list`; for a non-resource path, the HTTP method in lower case.
    pub verb: &'a str,
    /// The target of the action.
    pub target: Target<'a>,
    /// The selectors that restrict the request to part of a collection.
    pub selectors: Selectors<'a>,
}

impl<'a> Attributes<'a> {
    /// Creates attributes for an action on the whole target.
    #[must_use]
    pub fn new(user: &'a UserInfo, verb: &'a str, target: Target<'a>) -> Self {
        let selectors = Selectors::default();
        Self {
            user,
            verb,
            target,
            selectors,
        }
    }
}

/// The selectors of a list, watch or deletecollection request, as the client wrote them; empty for the whole collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selectors<'a> {
    /// The field selector.
    pub field: &'a str,
    /// The label selector.
    pub label: &'a str,
}

/// The target of an action.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// An API resource.
    Resource {
        /// API group; empty for the core group.
        group: &'a str,
        /// API version.
        version: &'a str,
        /// The plural resource name, e.g. `pods`.
        resource: &'a str,
        /// The subresource, e.g. `status`; empty for the resource itself.
        subresource: &'a str,
        /// The namespace; empty for cluster-wide actions.
        namespace: &'a str,
        /// The object name; empty for collections.
        name: &'a str,
    },
    /// A non-resource path.
    Path(&'a str),
}

/// The decision of one authorizer. The reason is reported to the client and may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The action is allowed.
    Allow,
    /// The action is denied, regardless of other authorizers.
    Deny(String),
    /// The authorizer has no opinion. The action is denied unless another authorizer allows it.
    NoOpinion(String),
    /// The evaluation failed. Unless another authorizer decides, the request fails with this error, which is safe to show to
    /// clients.
    Failed(String),
}

/// Decides about actions.
pub trait Authorizer: Send + Sync + std::fmt::Debug {
    /// Decides about one action. Must be cheap: it runs for each request.
    fn authorize(&self, attributes: &Attributes<'_>) -> Decision;

    /// Checks if `user` may perform `verb` on the whole `target`, for secondary checks during another request.
    ///
    /// # Errors
    /// The reason for the denial, which may be empty.
    fn permits(&self, user: &UserInfo, verb: &str, target: Target<'_>) -> Result<(), String> {
        match self.authorize(&Attributes::new(user, verb, target)) {
            Decision::Allow => Ok(()),
            Decision::Deny(reason) | Decision::NoOpinion(reason) | Decision::Failed(reason) => Err(reason),
        }
    }

    /// Returns the actions that `user` may perform in `namespace`, for self-subject rules reviews. The default lists none.
    fn rules(&self, user: &UserInfo, namespace: &str) -> Rules {
        let _ = (user, namespace);
        Rules::default()
    }
}

/// Calls several authorizers in order; the first one with an opinion decides.
#[derive(Debug)]
pub struct Union {
    authorizers: Vec<Box<dyn Authorizer>>,
}

impl Union {
    /// Creates a union of `authorizers`, in order.
    #[must_use]
    pub fn new(authorizers: Vec<Box<dyn Authorizer>>) -> Self {
        Self { authorizers }
    }
}

/// Joins several failures as Go's aggregate errors do: without duplicates, and in brackets if more than one remains.
fn together(failures: &[String]) -> String {
    let mut told: Vec<&str> = Vec::new();
    for failure in failures {
        if !told.contains(&&**failure) {
            told.push(failure);
        }
    }
    match told[..] {
        [only] => only.to_owned(),
        _ => format!("[{}]", told.join(", ")),
    }
}

impl Authorizer for Union {
    fn authorize(&self, attributes: &Attributes<'_>) -> Decision {
        let mut reasons: Vec<String> = Vec::new();
        let mut failures: Vec<String> = Vec::new();
        for authorizer in &self.authorizers {
            match authorizer.authorize(attributes) {
                Decision::NoOpinion(reason) if reason.is_empty() => {}
                Decision::NoOpinion(reason) => reasons.push(reason),
                Decision::Failed(why) => failures.push(why),
                decided @ (Decision::Allow | Decision::Deny(_)) => return decided,
            }
        }
        match failures.is_empty() {
            true => Decision::NoOpinion(reasons.join("\n")),
            false => Decision::Failed(together(&failures)),
        }
    }

    fn rules(&self, user: &UserInfo, namespace: &str) -> Rules {
        let mut rules = Rules::default();
        for authorizer in &self.authorizers {
            rules.append(authorizer.rules(user, namespace));
        }
        rules
    }
}

#[cfg(test)]
mod tests;
