//! `access explain`: the bindings, roles and rules that decide about an action of a user.

use std::fmt::Write as _;

use anyhow::Result;
use clap::Args;
use http::Method;
use planesmith_access::authorization::rbac::Action;
use planesmith_access::user::{AUTHENTICATED_GROUP, PRIVILEGED_GROUP, UserInfo};
use serde_json::json;

use super::{RequestedAction, ResolvedAction, Server, roles};
use crate::delegation::Host;
use crate::resource_client::text;

/// Explains why a user may or may not perform an action: the binding, the role and the rule that decide, or what is missing.
#[derive(Args, Debug)]
#[command(disable_version_flag = true)]
pub(super) struct Explain {
    /// Name of the user; of a service account system:serviceaccount:NAMESPACE:NAME.
    #[arg(long, value_name = "NAME")]
    user: String,

    /// Group that the user is in; may be given several times. All users are in system:authenticated, service accounts in
    /// their groups.
    #[arg(long, value_name = "NAME")]
    group: Vec<String>,

    #[command(flatten)]
    requested: RequestedAction,

    #[command(flatten)]
    server: Server,
}

impl Explain {
    pub(super) async fn answer(&self) -> Result<String> {
        let host = self.server.host()?;
        let resolved = self.requested.resolve(&host).await?;
        let target = resolved.target();
        let action = Action::new(&self.requested.verb, &target);
        let user = self.user();
        let mut answer = String::new();
        // Writing to a String cannot fail.
        let _ = writeln!(answer, "{}", self.decision(&host, &resolved, &user).await?);
        if user.is_in(PRIVILEGED_GROUP) {
            answer.push_str("members of system:masters may do everything, whatever their roles\n");
            return Ok(answer);
        }
        let policy = roles::read(&host).await?;
        let explanation = policy.explain(&user, &action);
        for candidate in &explanation.candidates {
            let _ = match &candidate.rule {
                Ok(Some(rule)) => writeln!(answer, "  permits: {}, rule {rule}", candidate.grant),
                Err(problem) => writeln!(answer, "  broken: {}: {problem}", candidate.grant),
                Ok(None) if candidate.near.is_empty() => writeln!(answer, "  not about it: {}", candidate.grant),
                Ok(None) => {
                    let near: Vec<String> = candidate.near.iter().map(ToString::to_string).collect();
                    writeln!(answer, "  not enough: {} has only {}", candidate.grant, near.join(", "))
                }
            };
        }
        if explanation.deciding().is_none() {
            let _ = writeln!(
                answer,
                "  missing: a binding of {} or of a group of theirs to a role that permits to {action}",
                self.user
            );
        }
        Ok(answer)
    }

    /// Asks the server, whose other authorizers decide, too.
    async fn decision(&self, host: &Host, resolved: &ResolvedAction, user: &UserInfo) -> Result<String> {
        let mut spec = json!({"user": user.name, "groups": user.groups});
        match &resolved.path {
            Some(path) => spec["nonResourceAttributes"] = json!({"path": path, "verb": self.requested.verb}),
            None => {
                spec["resourceAttributes"] = json!({
                    "verb": self.requested.verb,
                    "group": resolved.group,
                    "resource": resolved.resource,
                    "subresource": resolved.subresource,
                    "namespace": resolved.namespace,
                    "name": resolved.name,
                });
            }
        }
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": spec,
        });
        let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
        let answer = host
            .send(Method::POST, path, Some(&review))
            .await
            .map_err(anyhow::Error::msg)?;
        let word = match answer["status"]["allowed"] == true {
            true => "allowed",
            false => "refused",
        };
        Ok(match text(&answer, "/status/reason") {
            "" => word.to_owned(),
            reason => format!("{word}: {reason}"),
        })
    }

    /// The user with the groups that every such user has.
    fn user(&self) -> UserInfo {
        let mut groups = self.group.clone();
        let account = self.user.strip_prefix("system:serviceaccount:");
        if let Some((namespace, _)) = account.and_then(|account| account.split_once(':')) {
            groups.push("system:serviceaccounts".to_owned());
            groups.push(format!("system:serviceaccounts:{namespace}"));
        }
        groups.push(AUTHENTICATED_GROUP.to_owned());
        UserInfo {
            name: self.user.clone(),
            groups,
            ..UserInfo::default()
        }
    }
}
