//! Decisions of an authorizer that expressions ask for.
//!
//! Evaluation never waits. An [`Authorizer`] that does not have a decision yet suspends the evaluation: the caller obtains the
//! decision and evaluates again. Evaluation has no side effects, so that repeating it changes nothing.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The service account of the queries of an expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ServiceAccount {
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

/// The resource of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ResourceCheck {
    /// API group; empty for the core group.
    pub group: String,
    /// The plural resource name.
    pub resource: String,
    /// The subresource; empty for the resource itself.
    pub subresource: String,
    /// The namespace; empty for cluster-wide actions.
    pub namespace: String,
    /// The object name; empty for collections.
    pub name: String,
    /// The field selector, as written; empty for none.
    pub field_selector: String,
    /// The label selector, as written; empty for none.
    pub label_selector: String,
}

/// The target of a query.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Check {
    /// A non-resource path.
    Path(String),
    /// A group, to which a resource is added.
    Group(String),
    /// A resource.
    Resource(ResourceCheck),
}

/// A query for an authorizer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Query {
    /// The subject; `None` for the user of the request.
    pub service_account: Option<ServiceAccount>,
    /// The verb.
    pub verb: String,
    /// The target: a path or a resource.
    pub check: Check,
}

/// The answer of an authorizer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthorizerDecision {
    /// True if the action is allowed.
    pub allowed: bool,
    /// The reason; may be empty.
    pub reason: String,
    /// The error that prevented a decision.
    pub error: Option<String>,
}

/// Decides for expressions.
pub trait Authorizer: std::fmt::Debug {
    /// Returns the decision about `query`; `None` suspends the evaluation.
    fn decide(&self, query: &Query) -> Option<Rc<AuthorizerDecision>>;
}

/// The decisions made during one request. Each query is decided once.
#[derive(Debug, Default)]
pub struct Decisions {
    recorded: HashMap<Query, AuthorizerDecision>,
    wanted: RefCell<Option<Query>>,
}

impl Decisions {
    /// Returns the query that suspended the last evaluation.
    pub fn take_wanted(&mut self) -> Option<Query> {
        self.wanted.take()
    }

    /// Records a decision.
    pub fn record(&mut self, query: Query, verdict: AuthorizerDecision) {
        self.recorded.insert(query, verdict);
    }
}

impl Authorizer for Decisions {
    fn decide(&self, query: &Query) -> Option<Rc<AuthorizerDecision>> {
        let recorded = self.recorded.get(query).cloned().map(Rc::new);
        if recorded.is_none() {
            self.wanted.replace(Some(query.clone()));
        }
        recorded
    }
}
