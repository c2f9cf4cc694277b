//! The inputs of expressions for one request, and decisions of the authorizer for them.

use planesmith_access::authorization::{Attributes as Query, Decision, Selectors, Target as Subject};
use planesmith_access::user::UserInfo;
use planesmith_api_defs::core::v1::Namespace;
use planesmith_expressions::authorization::{self, Check, Decisions, ResourceCheck, ServiceAccount, Verdict};
use planesmith_expressions::policy::{Inputs, Suspended};
use planesmith_machinery::group_version::GroupResource;
use planesmith_machinery::json;
use planesmith_machinery::status::{ApiError, ApiResult};
use serde_json::Value;
use tokio::runtime::{Handle, RuntimeFlavor};

use super::params::Param;
use crate::request::Request;
use crate::sources::Sources;
use crate::target::Target;

/// The inputs that all expressions of one request have in common.
#[derive(Debug)]
pub(super) struct Evaluation {
    namespace: Value,
    resource: ResourceCheck,
    /// The variable `request`, as those who match a target see it.
    requests: Vec<(Target, Value)>,
    decisions: Decisions,
}

/// The documents that expressions are evaluated with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Documents<'d> {
    /// The new object.
    pub(super) new: &'d Value,
    /// The stored object.
    pub(super) old: &'d Value,
    /// The parameters.
    pub(super) param: &'d Param,
}

impl Evaluation {
    /// Prepares evaluations for a request.
    ///
    /// # Errors
    ///
    /// 404 if the request is in a namespace that does not exist.
    pub(super) fn new(request: &Request<'_>, sources: &Sources) -> ApiResult<Self> {
        let attributes = request.attributes;
        let kind = &request.target.kind;
        let is_namespace = kind.group.is_empty() && kind.version == "v1" && kind.kind == "Namespace";
        let namespace = match attributes.namespace {
            "" => Value::Null,
            _ if is_namespace => Value::Null,
            name => {
                let found = sources.objects.fetch::<Namespace>("", name)?;
                let missing = || ApiError::not_found(&GroupResource::new("", "namespaces"), name);
                json::to_value(&*found.ok_or_else(missing)?)
            }
        };
        Ok(Self {
            namespace,
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
        })
    }

    /// Calls `evaluate` with the inputs, again after each decision that the authorizer has to make first.
    pub(super) async fn run<T: Send>(
        &mut self,
        (request, target): (&Request<'_>, &Target),
        documents: Documents<'_>,
        sources: &Sources,
        evaluate: impl Fn(&Inputs<'_>) -> Result<T, Suspended> + Send,
    ) -> T {
        let position = match self.requests.iter().position(|(known, _)| known == target) {
            Some(position) => position,
            None => {
                let document = Value::Object(request.document(target));
                self.requests.push((target.clone(), document));
                self.requests.len() - 1
            }
        };
        loop {
            let result = in_place(|| {
                evaluate(&Inputs {
                    object: documents.new,
                    old_object: documents.old,
                    request: &self.requests[position].1,
                    namespace: &self.namespace,
                    params: documents.param.as_ref().unwrap_or(&Value::Null),
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

/// Runs `work`, which may take a second, and moves the other tasks of this thread elsewhere meanwhile.
fn in_place<T>(work: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    match matches!(flavor, Ok(RuntimeFlavor::MultiThread)) {
        true => tokio::task::block_in_place(work),
        false => work(),
    }
}

/// Asks the authorizer about `query` of a request of `user`.
async fn decide(query: &authorization::Query, user: &UserInfo, sources: &Sources) -> Verdict {
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
        Check::Group(_) => return Verdict::default(),
    };
    let attributes = Query {
        selectors,
        ..Query::new(user, &query.verb, subject)
    };
    match sources.authorizer.authorize(&attributes).await {
        Decision::Allow(reason) => Verdict {
            allowed: true,
            reason: reason.to_string(),
            error: None,
        },
        Decision::Deny(reason) | Decision::NoOpinion(reason) => Verdict {
            reason,
            ..Verdict::default()
        },
        Decision::Failed(error) | Decision::FailedClosed(error) => Verdict {
            error: Some(error),
            ..Verdict::default()
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
