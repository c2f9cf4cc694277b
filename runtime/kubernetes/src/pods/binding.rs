//! `bindings` and `pods/binding`: assign pods to nodes.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use planesmith_api_defs::core::v1::{Binding, Pod, PodCondition};
use planesmith_machinery::group_version::GroupResource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::object::Resource;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::time::Time;
use planesmith_server::discovery::{ServedKind, ServedSubresource};
use planesmith_server::endpoint::{Call, Endpoint, Subresource};
use planesmith_server::request::Verb;
use planesmith_server::stores::ResourceStore;
use planesmith_server::verbs::{AcceptedKinds, Responder, Submission};

use super::conditions::set_condition;

const POSTED: AcceptedKinds = AcceptedKinds {
    kinds: &[Binding::RESOURCE],
    keeps_system_fields: true,
};

/// Assigns pods to nodes.
pub(super) struct Bindings {
    pods: Arc<ResourceStore>,
}

impl Bindings {
    pub(super) fn new(pods: Arc<ResourceStore>) -> Self {
        Self { pods }
    }

    /// Executes a binding that was posted for the pod `name`.
    async fn bind(&self, call: &Call, name: &str, submission: &mut Submission<'_>) -> ApiResult<Response> {
        if submission.as_kind::<Binding>()?.metadata.name != name {
            return Err(ApiError::bad_request(
                "name in URL does not match name in Binding object",
            ));
        }
        if let Some(problems) = submission.check().joined() {
            // kube-apiserver drops the kind of the failure here.
            return Err(ApiError::unnamed(500, problems));
        }
        submission.admit().await?;
        let (dry_run, now) = (submission.is_dry_run(), submission.now());
        let binding = submission.as_kind::<Binding>()?.clone();
        let key = self.pods.key(call.namespace(), name)?;
        let change = |object: &mut dyn planesmith_machinery::object::Object| {
            let pod = object
                .downcast_mut::<Pod>()
                .ok_or_else(|| ApiError::internal("not a pod"))?;
            check_preconditions(&key, &pod.metadata, &binding.metadata)?;
            assign(pod, &binding, now)
        };
        self.pods.modify(call.namespace(), name, dry_run, change).await?;
        Ok(submission.done())
    }
}

impl Subresource for Bindings {
    fn served(&self) -> ServedSubresource {
        ServedSubresource {
            name: "binding".into(),
            kind: Some(ServedKind {
                group: "".into(),
                version: "".into(),
                kind: "Binding".into(),
            }),
            verbs: vec![Verb::Create],
            open_ended: false,
        }
    }

    fn serve<'a>(&'a self, endpoint: Arc<Endpoint>, call: &'a Call, body: Body) -> BoxFuture<'a, ApiResult<Response>> {
        Box::pin(async move {
            let mut submission = endpoint.posted(call, body, POSTED).await?;
            self.bind(call, call.name(), &mut submission).await
        })
    }
}

impl Responder for Bindings {
    fn answer<'a>(&'a self, call: &'a Call, submission: &'a mut Submission<'_>) -> BoxFuture<'a, ApiResult<Response>> {
        Box::pin(async move {
            let name = submission.object.meta().name.clone();
            self.bind(call, &name, submission).await
        })
    }
}

/// Checks the UID and the resource version in the binding against the pod, whose key in the store is `key`.
fn check_preconditions(key: &str, pod: &ObjectMeta, wanted: &ObjectMeta) -> ApiResult<()> {
    let pods = Pod::RESOURCE.group_resource();
    if !wanted.uid.is_empty() && wanted.uid != pod.uid {
        return Err(ApiError::wrong_uid_on_update(
            &pods,
            &pod.name,
            key,
            &wanted.uid,
            &pod.uid,
        ));
    }
    let (version, actual) = (&wanted.resource_version, &pod.resource_version);
    if !version.is_empty() && version != actual {
        return Err(ApiError::wrong_version_on_update(
            &pods, &pod.name, key, version, actual,
        ));
    }
    Ok(())
}

fn assign(pod: &mut Pod, binding: &Binding, now: Time) -> ApiResult<()> {
    let name = &pod.metadata.name;
    let problem = if pod.metadata.deletion_timestamp.is_some() {
        Some(format!("pod {name} is being deleted, cannot be assigned to a host"))
    } else if !pod.spec.node_name.is_empty() {
        let node = planesmith_machinery::go_format::quote(&pod.spec.node_name);
        Some(format!("pod {name} is already assigned to node {node}"))
    } else if !pod.spec.scheduling_gates.is_empty() {
        Some(format!("pod {name} has non-empty .spec.schedulingGates"))
    } else {
        None
    };
    if let Some(problem) = problem {
        return Err(ApiError::conflict(
            &GroupResource::new("", "pods/binding"),
            name,
            problem,
        ));
    }
    pod.spec.node_name.clone_from(&binding.target.name);
    pod.metadata.annotations.extend(binding.metadata.annotations.clone());
    pod.metadata.labels.extend(binding.metadata.labels.clone());
    pod.status.nominated_node_name.clear();
    let scheduled = PodCondition {
        type_: "PodScheduled".to_owned(),
        status: "True".to_owned(),
        ..PodCondition::default()
    };
    set_condition(&mut pod.status, scheduled, now);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binding_may_say_which_pod_it_means() {
        let pod = ObjectMeta {
            name: "p".to_owned(),
            uid: "1".to_owned(),
            resource_version: "7".to_owned(),
            ..ObjectMeta::default()
        };
        let refusal = |uid: &str, version: &str| {
            let wanted = ObjectMeta {
                uid: uid.to_owned(),
                resource_version: version.to_owned(),
                ..ObjectMeta::default()
            };
            let checked = check_preconditions("/registry/pods/a/p", &pod, &wanted);
            checked.map_err(|error| error.message().to_owned())
        };
        assert_eq!((refusal("", ""), refusal("1", "7")), (Ok(()), Ok(())));
        for (uid, version, what) in [
            ("2", "", "UID in precondition: 2, UID in object meta: 1"),
            (
                "",
                "6",
                "ResourceVersion in precondition: 6, ResourceVersion in object meta: 7",
            ),
        ] {
            let words = format!(
                "Operation cannot be fulfilled on pods \"p\": StorageError: invalid object, Code: 4, Key: /registry/pods/a/p, \
                 ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: {what}"
            );
            assert_eq!(refusal(uid, version), Err(words));
        }
    }
}
