//! From a user and an action to a decision.

mod modes;
mod rules;

use crate::user::UserInfo;

pub use modes::{AllowedPaths, AlwaysAllow, AlwaysDeny, PrivilegedGroup};
pub use rules::{PathRule, ResourceRule, Rules};

/// Who wants to do what.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    /// Who.
    pub user: &'a UserInfo,
    /// E.g. `list`; for a path that is no resource the method in lower case.
    pub verb: &'a str,
    /// On what.
    pub target: Target<'a>,
    /// What of a collection is asked for.
    pub selectors: Selectors<'a>,
}

impl<'a> Attributes<'a> {
    /// An action on all of its target.
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

/// What of a collection somebody asks for, as clients write it; empty for all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selectors<'a> {
    /// By fields.
    pub field: &'a str,
    /// By labels.
    pub label: &'a str,
}

/// What an action is done to.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// A resource of the API.
    Resource {
        /// API group; empty for the core group.
        group: &'a str,
        /// API version.
        version: &'a str,
        /// E.g. `pods`.
        resource: &'a str,
        /// E.g. `status`; may be empty.
        subresource: &'a str,
        /// Empty for cluster-wide actions.
        namespace: &'a str,
        /// Empty for collections.
        name: &'a str,
    },
    /// Any other path.
    Path(&'a str),
}

/// What one authorizer says. The reason is shown to the client and may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The action may be done.
    Allow,
    /// It may not, whatever others say.
    Deny(String),
    /// Nothing speaks for it here; without another voice it may not.
    NoOpinion(String),
    /// It could not be found out; without another voice that is an error, which says what the client may read of it.
    Failed(String),
}

/// Decides about actions.
pub trait Authorizer: Send + Sync + std::fmt::Debug {
    /// Decides about one action; cheap, because it runs for each request.
    fn authorize(&self, attributes: &Attributes<'_>) -> Decision;

    /// Whether `user` may do `verb` to all of `target`, for one who asks on the way to something else.
    ///
    /// # Errors
    /// The reason why not, which may be empty.
    fn permits(&self, user: &UserInfo, verb: &str, target: Target<'_>) -> Result<(), String> {
        match self.authorize(&Attributes::new(user, verb, target)) {
            Decision::Allow => Ok(()),
            Decision::Deny(reason) | Decision::NoOpinion(reason) | Decision::Failed(reason) => Err(reason),
        }
    }

    /// What `user` may do in `namespace`, for people who want to know before they try. Without an answer of its own an
    /// authorizer lists nothing.
    fn rules(&self, user: &UserInfo, namespace: &str) -> Rules {
        let _ = (user, namespace);
        Rules::default()
    }
}

/// Asks several authorizers in order; the first one with an opinion decides.
#[derive(Debug)]
pub struct Union {
    authorizers: Vec<Box<dyn Authorizer>>,
}

impl Union {
    /// Asks `authorizers` in order.
    #[must_use]
    pub fn new(authorizers: Vec<Box<dyn Authorizer>>) -> Self {
        Self { authorizers }
    }
}

/// What several failures are called together, in Go's words: each once, and in brackets when they differ.
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
