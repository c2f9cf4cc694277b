//! Authorization: decides if a user may perform an action.

mod abac;
mod modes;
mod outcome;
mod owned_attributes;
pub mod rbac;
mod reason;
mod rules;

use std::sync::Arc;

use planesmith_machinery::go_format;

use crate::user::UserInfo;

pub use abac::{PolicyError, PolicyList};
pub use modes::{AllowedPaths, AlwaysAllow, AlwaysDeny, PrivilegedGroup};
pub use outcome::AuthorizationOutcome;
pub use owned_attributes::OwnedAttributes;
pub use reason::Reason;
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

/// The decision of one authorizer. The reason of a refusal is reported to the client and may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The action is allowed.
    Allow(Reason),
    /// The action is denied, regardless of other authorizers.
    Deny(String),
    /// The authorizer has no opinion. The action is denied unless another authorizer allows it.
    NoOpinion(String),
    /// The evaluation failed. Unless another authorizer decides, the request fails with this error, which is safe to show to
    /// clients.
    Failed(String),
    /// The evaluation failed, and the authorizer denies what it cannot evaluate: no other authorizer is consulted, and the request
    /// fails with this error, which is safe to show to clients.
    FailedClosed(String),
}

impl Decision {
    /// The action is allowed, without a reason.
    pub const ALLOW: Self = Self::Allow(Reason::NONE);

    /// True if the action is allowed.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow(_))
    }
}

/// Decides about actions.
pub trait Authorizer: Send + Sync + std::fmt::Debug {
    /// Decides about one action. Runs for each request, so it must be cheap and must not block: a local authorizer returns
    /// [`AuthorizationOutcome::Ready`], and one that consults another server returns [`AuthorizationOutcome::Pending`].
    fn authorize(&self, attributes: &Attributes<'_>) -> AuthorizationOutcome;

    /// Returns the actions that `user` may perform in `namespace`, for self-subject rules reviews. The default lists none.
    fn rules(&self, user: &UserInfo, namespace: &str) -> Rules {
        let _ = (user, namespace);
        Rules::default()
    }

    /// Explains a refusal to an administrator, in one line: the rules that permit the action to others, or the permission that the user lacks. The default
    /// has nothing to add to the decision.
    fn explanation(&self, attributes: &Attributes<'_>) -> Option<String> {
        let _ = attributes;
        None
    }
}

impl dyn Authorizer + '_ {
    /// Checks if `user` may perform `verb` on the whole `target`, for secondary checks during another request.
    ///
    /// # Errors
    /// The reason for the denial, which may be empty.
    pub async fn permits(&self, user: &UserInfo, verb: &str, target: Target<'_>) -> Result<(), String> {
        match self.authorize(&Attributes::new(user, verb, target)).wait().await {
            Decision::Allow(_) => Ok(()),
            Decision::Deny(reason)
            | Decision::NoOpinion(reason)
            | Decision::Failed(reason)
            | Decision::FailedClosed(reason) => Err(reason),
        }
    }
}

/// Calls several authorizers in order; the first one with an opinion decides.
#[derive(Debug)]
pub struct Union {
    authorizers: Arc<[Box<dyn Authorizer>]>,
}

impl Union {
    /// Creates a union of `authorizers`, in order.
    #[must_use]
    pub fn new(authorizers: Vec<Box<dyn Authorizer>>) -> Self {
        Self {
            authorizers: authorizers.into(),
        }
    }
}

/// The answers of authorizers without an opinion.
#[derive(Debug, Default)]
struct Undecided {
    reasons: Vec<String>,
    failures: Vec<String>,
}

impl Undecided {
    /// Adds the decision of an authorizer. Returns it if it is an opinion.
    fn add(&mut self, decision: Decision) -> Option<Decision> {
        match decision {
            Decision::NoOpinion(reason) if reason.is_empty() => {}
            Decision::NoOpinion(reason) => self.reasons.push(reason),
            Decision::Failed(why) => self.failures.push(why),
            decided @ (Decision::Allow(_) | Decision::Deny(_) | Decision::FailedClosed(_)) => return Some(decided),
        }
        None
    }

    /// Returns the decision if no authorizer has an opinion.
    fn finish(self) -> Decision {
        match self.failures.is_empty() {
            true => Decision::NoOpinion(self.reasons.join("\n")),
            false => Decision::Failed(go_format::aggregate(&self.failures)),
        }
    }
}

impl Authorizer for Union {
    fn authorize(&self, attributes: &Attributes<'_>) -> AuthorizationOutcome {
        let mut undecided = Undecided::default();
        for (index, authorizer) in self.authorizers.iter().enumerate() {
            match authorizer.authorize(attributes) {
                AuthorizationOutcome::Ready(decision) => {
                    if let Some(decided) = undecided.add(decision) {
                        return decided.into();
                    }
                }
                AuthorizationOutcome::Pending(pending) => {
                    let (authorizers, attributes) = (Arc::clone(&self.authorizers), OwnedAttributes::from(attributes));
                    return AuthorizationOutcome::pending(async move {
                        let mut decision = pending.await;
                        let mut later = authorizers[index + 1..].iter();
                        loop {
                            if let Some(decided) = undecided.add(decision) {
                                return decided;
                            }
                            let Some(authorizer) = later.next() else {
                                return undecided.finish();
                            };
                            decision = authorizer.authorize(&attributes.attributes()).wait().await;
                        }
                    });
                }
            }
        }
        undecided.finish().into()
    }

    fn rules(&self, user: &UserInfo, namespace: &str) -> Rules {
        let mut rules = Rules::default();
        for authorizer in &*self.authorizers {
            rules.append(authorizer.rules(user, namespace));
        }
        rules
    }

    fn explanation(&self, attributes: &Attributes<'_>) -> Option<String> {
        let each = self.authorizers.iter();
        let explanations: Vec<String> = each
            .filter_map(|authorizer| authorizer.explanation(attributes))
            .collect();
        (!explanations.is_empty()).then(|| explanations.join("; "))
    }
}

#[cfg(test)]
mod tests;
