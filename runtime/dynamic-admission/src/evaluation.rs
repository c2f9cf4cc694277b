//! The inputs of expressions for one request, and decisions of the authorizer for them.

use planesmith_access::authorization::{Attributes as Query, Decision, Selectors, Target as Subject};
use planesmith_access::user::UserInfo;
use planesmith_api_defs::core::v1::Namespace;
use planesmith_expressions::authorization::{
    self, AuthorizerDecision, Check, Decisions, ResourceCheck, ServiceAccount,
};
use planesmith_expressions::policy::{Inputs, Suspended};
use planesmith_machinery::group_version::GroupResource;
use planesmith_machinery::json;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_server::block_in_place;
use serde_json::Value;

use crate::request::Request;
use crate::sources::Sources;
use crate::target::Target;

/// The inputs that all expressions of one request have in common.
#[derive(Debug)]
pub(crate) struct Evaluation {
    namespace: Value,
    resource: ResourceCheck,
    /// The variable `request`, as webhooks and policies that match a target see it.
    requests: Vec<(Target, Value)>,
    decisions: Decisions,
}

/// The objects that expressions are evaluated with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EvaluationInputs<'d> {
    /// The new object.
    pub(crate) new: &'d Value,
    /// The stored object.
    pub(crate) old: &'d Value,
    /// The parameters; null if there are none.
    pub(crate) params: &'d Value,
}

impl Evaluation {
    /// Prepares evaluations for a request. Expressions see no Namespace object.
    pub(crate) fn new(request: &Request<'_>) -> Self {
        let attributes = request.attributes;
        Self {
            namespace: Value::Null,
            resource: ResourceCheck {
                group: attributes.resource.group.to_string(),
                resource: attributes.resource.plural.to_string(),
                subresource: attributes.subresource.to_owned(),
                namespace: attributes.namespace.to_owned(),
                name: attributes.name.to_owned(),
                ..ResourceCheck::default()
            },
            requests: Vec::new(),
            decisions: Decisions::default(),
        }
    }

    /// The same evaluations, with the Namespace of the request.
    ///
    /// # Errors
    ///
    /// 404 if the request is in a namespace that does not exist.
    pub(crate) fn with_namespace(mut self, request: &Request<'_>, sources: &Sources) -> ApiResult<Self> {
        let kind = &request.target.kind;
        let is_namespace = kind.group.is_empty() && kind.version == "v1" && kind.kind == "Namespace";
        let name = request.attributes.namespace;
        if !name.is_empty() && !is_namespace {
            let found = sources.objects.fetch::<Namespace>("", name)?;
            let missing = || ApiError::not_found(&GroupResource::new("", "namespaces"), name);
            self.namespace = json::to_value(&*found.ok_or_else(missing)?);
        }
        Ok(self)
    }

    /// Calls `evaluate` with the inputs, again after each decision that the authorizer has to make first.
    pub(crate) async fn run<T: Send>(
        &mut self,
        (request, target): (&Request<'_>, &Target),
        documents: EvaluationInputs<'_>,
        sources: &Sources,
        evaluate: impl Fn(&Inputs<'_>) -> Result<T, Suspended> + Send,
    ) -> T {
        let position = match self.requests.iter().position(|(known, _)| known == target) {
            Some(position) => position,
            None => {
                let document = request.document(target);
                self.requests.push((target.clone(), document));
                self.requests.len() - 1
            }
        };
        loop {
            let result = block_in_place(|| {
                evaluate(&Inputs {
                    object: documents.new,
                    old_object: documents.old,
                    request: &self.requests[position].1,
                    namespace: &self.namespace,
                    params: documents.params,
                    resource: &self.resource,
                    authorizer: &self.decisions,
                })
            });
            if let Ok(result) = result {
                return result;
            }
            if let Some(query) = self.decisions.take_wanted() {
                let verdict = decide(&query, request.attributes.user, sources).await;
                self.decisions.record(query, verdict);
            }
        }
    }
}

/// Asks the authorizer about `query` of a request of `user`.
async fn decide(query: &authorization::Query, user: &UserInfo, sources: &Sources) -> AuthorizerDecision {
    let account = query.service_account.as_ref().map(user_of);
    let user = account.as_ref().unwrap_or(user);
    let mut selectors = Selectors::default();
    let subject = match &query.check {
        Check::Path(path) => Subject::Path(path),
        Check::Resource(check) => {
            selectors.field = &check.field_selector;
            selectors.label = &check.label_selector;
            Subject::Resource {
                group: &check.group,
                version: "*",
                resource: &check.resource,
                subresource: &check.subresource,
                namespace: &check.namespace,
                name: &check.name,
            }
        }
        Check::Group(_) => return AuthorizerDecision::default(),
    };
    let attributes = Query {
        selectors,
        ..Query::new(user, &query.verb, subject)
    };
    match sources.authorizer.authorize(&attributes).wait().await {
        Decision::Allow(reason) => AuthorizerDecision {
            allowed: true,
            reason: reason.to_string(),
            error: None,
        },
        Decision::Deny(reason) | Decision::NoOpinion(reason) => AuthorizerDecision {
            reason,
            ..AuthorizerDecision::default()
        },
        Decision::Failed(error) | Decision::FailedClosed(error) => AuthorizerDecision {
            error: Some(error),
            ..AuthorizerDecision::default()
        },
    }
}

fn user_of(account: &ServiceAccount) -> UserInfo {
    let ServiceAccount { namespace, name } = account;
    UserInfo {
        name: format!("system:serviceaccount:{namespace}:{name}"),
        groups: vec![
            "system:serviceaccounts".to_owned(),
            format!("system:serviceaccounts:{namespace}"),
        ],
        ..UserInfo::default()
    }
}
