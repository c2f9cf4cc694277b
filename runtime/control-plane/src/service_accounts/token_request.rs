//! `serviceaccounts/token`: issues tokens.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use planesmith_access::authentication::service_account::{
    Bound, Claims, Private, Reference, TokenIssuer, service_account_name,
};
use planesmith_api_defs::authentication::v1::{BoundObjectReference, TokenRequest, TokenRequestStatus};
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::group_version::{GroupKind, GroupResource};
use planesmith_machinery::json;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::object::{Object, Resource};
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::time::Time;
use planesmith_server::discovery::{ServedKind, ServedSubresource};
use planesmith_server::endpoint::{Call, Endpoint, Subresource};
use planesmith_server::request::Verb;
use planesmith_server::verbs::{AcceptedKinds, Submission};

use super::{ServiceAccountKeys, StoredObjects};
use crate::options::ServiceAccountOptions;
use crate::resource_client::text;

const POSTED: AcceptedKinds = AcceptedKinds {
    kinds: &[TokenRequest::RESOURCE],
    keeps_system_fields: true,
};

/// The lifetime in seconds that nodes request for tokens of pods. Such tokens live longer, because some programs do
/// not read their token again.
const KUBELET_LIFETIME: i64 = 60 * 60 + 7;

/// Answers `serviceaccounts/token`.
pub(crate) struct TokenRequests {
    issuer: Arc<TokenIssuer>,
    audiences: Vec<String>,
    objects: StoredObjects,
    longest: Option<i64>,
    extends: bool,
    /// The lifetime of extended tokens, in seconds.
    extended: i64,
}

/// The objects that a token is bound to, besides its account.
#[derive(Default)]
struct BoundTo {
    pod: Option<Reference>,
    node: Option<Reference>,
    secret: Option<Reference>,
}

impl TokenRequests {
    pub(crate) fn new(keys: &ServiceAccountKeys, objects: StoredObjects, flags: &ServiceAccountOptions) -> Self {
        let seconds = |lifetime: Duration| i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX);
        Self {
            issuer: Arc::clone(&keys.issuer),
            audiences: keys.audiences.clone(),
            objects,
            longest: keys.max_lifetime.map(seconds),
            extends: flags.service_account_extend_token_expiration,
            extended: seconds(keys.extended_lifetime),
        }
    }

    async fn answer(&self, call: &Call, mut submission: Submission<'_>) -> ApiResult<Response> {
        let (namespace, now) = (call.namespace(), submission.now());
        let request = submission.as_kind::<TokenRequest>()?;
        check_names(&request.metadata, call)?;
        let account = self.objects.get(Bound::ServiceAccount, namespace, call.name())?;
        check_uid(&request.metadata, &account.meta().uid)?;
        if request.spec.audiences.is_empty() {
            request.spec.audiences.clone_from(&self.audiences);
        }
        let metadata = &mut request.metadata;
        metadata.name.clone_from(&account.meta().name);
        metadata.namespace.clone_from(&account.meta().namespace);
        metadata.uid.clone_from(&account.meta().uid);
        metadata.creation_timestamp = now;
        request.status = TokenRequestStatus::default();
        let errors = submission.check();
        if !errors.is_empty() {
            return Err(ApiError::invalid(&kind(), "", &errors));
        }
        submission.admit().await?;
        let request = submission.as_kind::<TokenRequest>()?;
        let bound = match &request.spec.bound_object_ref {
            None => BoundTo::default(),
            Some(reference) => self.bind(reference, call)?,
        };
        let mut seconds = request.spec.expiration_seconds.unwrap_or_default();
        if let Some(longest) = self.longest.filter(|longest| seconds > *longest) {
            call.ctx.warnings.add(format!(
                "requested expiration of {seconds} seconds shortened to {longest} seconds"
            ));
            seconds = longest;
            request.spec.expiration_seconds = Some(seconds);
        }
        let claims = self.claims(request, account.meta(), bound, seconds, now);
        let id = format!("JTI={}", claims.id);
        call.ctx
            .annotations
            .add("authentication.kubernetes.io/issued-credential-id", id);
        let signed = self.issuer.sign(claims).wait().await;
        let token = signed.map_err(|error| {
            tracing::error!(%error, "a service account token cannot be signed");
            ApiError::internal("failed to generate token")
        })?;
        request.status = TokenRequestStatus {
            token,
            expiration_timestamp: Time::from_second(now.as_second().saturating_add(seconds)),
        };
        submission.answer_with(&*submission.object)
    }

    fn claims(&self, request: &TokenRequest, account: &ObjectMeta, bound: BoundTo, seconds: i64, now: Time) -> Claims {
        let now = now.as_second();
        let for_server = |audience: &String| self.audiences.contains(audience);
        let extended = self.extends
            && bound.pod.is_some()
            && seconds == KUBELET_LIFETIME
            && request.spec.audiences.iter().all(for_server);
        let lives = if extended { self.extended } else { seconds };
        Claims {
            audiences: request.spec.audiences.clone(),
            expires: Some(now.saturating_add(lives)),
            issued_at: now,
            id: uuid::Uuid::new_v4().to_string(),
            not_before: now,
            subject: service_account_name(&account.namespace, &account.name),
            private: Private {
                namespace: account.namespace.clone(),
                node: bound.node,
                pod: bound.pod,
                secret: bound.secret,
                service_account: reference(account),
                warn_after: extended.then(|| now.saturating_add(seconds)),
            },
            ..Claims::default()
        }
    }

    /// Finds the object to bind the token to.
    fn bind(&self, wanted: &BoundObjectReference, call: &Call) -> ApiResult<BoundTo> {
        let (group, version) = match wanted.api_version.split_once('/') {
            Some((group, version)) => (group, version),
            None => ("", wanted.api_version.as_str()),
        };
        let mut bound = BoundTo::default();
        let namespace = call.namespace();
        let (object, place) = match (group, wanted.kind.as_str()) {
            ("", "Pod") => {
                let object = self.objects.get(Bound::Pod, namespace, &wanted.name)?;
                bound.node = self.node_of(&*object, call.name())?;
                (object, &mut bound.pod)
            }
            ("", "Node") => (self.objects.get(Bound::Node, "", &wanted.name)?, &mut bound.node),
            ("", "Secret") => (
                self.objects.get(Bound::Secret, namespace, &wanted.name)?,
                &mut bound.secret,
            ),
            (group, kind) => {
                let why = format!("cannot bind token to object of type {group}/{version}, Kind={kind}");
                return Err(ApiError::bad_request(why));
            }
        };
        let uid = &object.meta().uid;
        if !wanted.uid.is_empty() && wanted.uid != *uid {
            let resource = GroupResource::new("", wanted.kind.clone());
            let why = format!(
                "the UID in the bound object reference ({}) does not match the UID in record. The object might have been \
                 deleted and then recreated",
                wanted.uid
            );
            return Err(ApiError::conflict(&resource, &wanted.name, why));
        }
        *place = Some(reference(object.meta()));
        Ok(bound)
    }

    /// Returns the node that a pod of the account `account` runs on, which may not exist as an object yet.
    fn node_of(&self, pod: &dyn Object, account: &str) -> ApiResult<Option<Reference>> {
        let pod = json::to_value(pod);
        let (own_account, node_name) = (text(&pod, "/spec/serviceAccountName"), text(&pod, "/spec/nodeName"));
        if own_account != account {
            let why = format!(
                "cannot bind token for serviceaccount {} to pod running with different serviceaccount name.",
                planesmith_machinery::go_format::quote(account)
            );
            return Err(ApiError::bad_request(why));
        }
        if node_name.is_empty() {
            return Ok(None);
        }
        let node = self.objects.get(Bound::Node, "", node_name);
        Ok(Some(node.map_or_else(
            |_| Reference {
                name: node_name.to_owned(),
                uid: String::new(),
            },
            |node| reference(node.meta()),
        )))
    }
}

impl Subresource for TokenRequests {
    fn served(&self) -> ServedSubresource {
        ServedSubresource {
            name: "token".into(),
            kind: Some(ServedKind {
                group: "authentication.k8s.io".into(),
                version: "v1".into(),
                kind: "TokenRequest".into(),
            }),
            verbs: vec![Verb::Create],
            open_ended: false,
        }
    }

    fn serve<'a>(&'a self, endpoint: Arc<Endpoint>, call: &'a Call, body: Body) -> BoxFuture<'a, ApiResult<Response>> {
        Box::pin(async move {
            let submission = endpoint.posted(call, body, POSTED).await?;
            endpoint.fresh(call).await?;
            self.answer(call, submission).await
        })
    }
}

fn kind() -> GroupKind {
    GroupKind::new("authentication.k8s.io", "TokenRequest")
}

fn reference(meta: &ObjectMeta) -> Reference {
    Reference {
        name: meta.name.clone(),
        uid: meta.uid.clone(),
    }
}

/// Checks that the names in the body are those of the path.
fn check_names(own: &ObjectMeta, call: &Call) -> ApiResult<()> {
    let mut errors = FieldErrors::default();
    if !own.name.is_empty() && own.name != call.name() {
        let problem = "must match the service account name if specified";
        errors.invalid("metadata.name", &own.name, problem);
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid(&kind(), call.name(), &errors))
}

fn check_uid(own: &ObjectMeta, uid: &str) -> ApiResult<()> {
    if own.uid.is_empty() || own.uid == uid {
        return Ok(());
    }
    let resource = GroupResource::new("authentication.k8s.io", "TokenRequest");
    let why = format!(
        "the UID in the token request ({}) does not match the UID of the service account ({uid})",
        own.uid
    );
    Err(ApiError::conflict(&resource, &own.name, why))
}
