//! Approves the requests of nodes for their own client certificates.

use std::collections::BTreeMap;
use std::sync::Arc;

use planesmith_access::authorization::{Authorizer, Target};
use planesmith_access::user::UserInfo;
use planesmith_control_plane::loopback::{Loopback, LoopbackError};
use planesmith_control_plane::reconciler::Reconcile;
use planesmith_control_plane::resource_client::{ResourceClient, text};
use planesmith_server::stores::Stores;
use serde_json::{Value, json};

use super::{add_condition, condition, is_issued, parse_request, requests, usages};
use crate::certificate_requests::{Request, signers};

/// Approves requests of nodes for client certificates, if the requesting user has the permission.
pub(in crate::controllers) struct Approver {
    requests: ResourceClient,
    authorizer: Arc<dyn Authorizer>,
}

impl Approver {
    /// `None` for a server without requests.
    pub(in crate::controllers) fn new(
        stores: &Stores,
        loopback: &Loopback,
        authorizer: &Arc<dyn Authorizer>,
    ) -> Option<Self> {
        Some(Self {
            requests: requests(stores, loopback)?,
            authorizer: Arc::clone(authorizer),
        })
    }

    /// Returns the reason why a request is approved; `None` if it is not.
    async fn reason(&self, stored: &Value, request: &Request) -> Option<&'static str> {
        let is_for_node = text(stored, "/spec/signerName") == signers::NODE_CLIENT
            && signers::check_node_client(request, &usages(stored)).is_ok();
        if !is_for_node {
            return None;
        }
        let user = user(stored);
        let may = async |subresource| {
            let target = Target::Resource {
                group: "certificates.k8s.io",
                version: "*",
                resource: "certificatesigningrequests",
                subresource,
                namespace: "",
                name: "",
            };
            self.authorizer.permits(&user, "create", target).await.is_ok()
        };
        if user.name == request.user.common_name && may("selfnodeclient").await {
            return Some("Auto approving self kubelet client certificate after SubjectAccessReview.");
        }
        may("nodeclient")
            .await
            .then_some("Auto approving kubelet client certificate after SubjectAccessReview.")
    }
}

impl Reconcile for Approver {
    const NAME: &'static str = "approval of a certificate";

    fn watched(&self) -> Vec<&ResourceClient> {
        vec![&self.requests]
    }

    async fn reconcile(&self, key: &str) -> Result<(), LoopbackError> {
        let is_undecided = |request: &Value| {
            let decided = ["Approved", "Denied"]
                .iter()
                .any(|type_| condition(request, type_).is_some());
            !decided && !is_issued(request)
        };
        let Some(mut stored) = self.requests.get("", key).filter(is_undecided) else {
            return Ok(());
        };
        // A request that cannot be parsed is not signed either.
        let Ok(request) = parse_request(&stored) else {
            return Ok(());
        };
        let Some(message) = self.reason(&stored, &request).await else {
            return Ok(());
        };
        add_condition(
            &mut stored,
            json!({"type": "Approved", "status": "True", "reason": "AutoApproved", "message": message}),
        );
        self.requests.replace_part(&stored, "/approval").await
    }
}

/// Returns the user that created the request, as the server recorded it.
fn user(request: &Value) -> UserInfo {
    let texts = |value: &Value| {
        let texts = value.as_array().into_iter().flatten().filter_map(Value::as_str);
        texts.map(str::to_owned).collect::<Vec<_>>()
    };
    let spec = &request["spec"];
    let extra = spec["extra"].as_object().into_iter().flatten();
    UserInfo {
        name: text(request, "/spec/username").to_owned(),
        uid: text(request, "/spec/uid").to_owned(),
        groups: texts(&spec["groups"]),
        extra: extra
            .map(|(key, values)| (key.clone(), texts(values)))
            .collect::<BTreeMap<_, _>>(),
    }
}
