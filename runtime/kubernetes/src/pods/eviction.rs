//! `pods/eviction`: a delete that respects disruption budgets.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use planesmith_api_defs::core::v1::{Pod, PodCondition};
use planesmith_api_defs::policy::v1::{Eviction, PodDisruptionBudget};
use planesmith_machinery::go_format;
use planesmith_machinery::group_version::GroupResource;
use planesmith_machinery::meta::{Condition, DeleteOptions, Preconditions};
use planesmith_machinery::object::{Object, Resource};
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::selector::LabelQuery;
use planesmith_machinery::status::{ApiError, ApiResult, Cause, Reason};
use planesmith_machinery::time::Time;
use planesmith_patch::managers::{self, Tracking};
use planesmith_server::discovery::{ServedKind, ServedSubresource};
use planesmith_server::endpoint::{Call, Endpoint, Subresource};
use planesmith_server::request::Verb;
use planesmith_server::stores::ResourceStore;
use planesmith_server::verbs::AcceptedKinds;
use planesmith_store::ListQuery;

use super::conditions::set_condition;

const POSTED: AcceptedKinds = AcceptedKinds {
    kinds: &[
        Eviction::RESOURCE,
        planesmith_api_defs::policy::v1beta1::Eviction::RESOURCE,
    ],
    keeps_system_fields: true,
};

/// The most granted evictions of a budget whose pods still exist; beyond that, its controller must have failed.
const MAX_DISRUPTED: usize = 2000;
/// The number of attempts at an eviction whose pod is changed by another writer meanwhile.
const ATTEMPTS: usize = 5;
const REFUSED: &str = "Cannot evict pod as it would violate the pod's disruption budget.";

/// Deletes pods if budgets allow it.
pub(super) struct Evictions {
    pods: Arc<ResourceStore>,
    budgets: Option<Arc<ResourceStore>>,
    scheme: Arc<Scheme>,
}

/// The verdict of the disruption budgets on an eviction.
enum Grant {
    /// The eviction may go ahead.
    Granted,
    /// The eviction may go ahead while the pod stays unhealthy, so that it does not count. Names the budget.
    WhileUnhealthy(String),
}

impl Evictions {
    pub(super) fn new(pods: Arc<ResourceStore>, budgets: Option<Arc<ResourceStore>>, scheme: Arc<Scheme>) -> Self {
        Self { pods, budgets, scheme }
    }

    async fn evict(&self, endpoint: &Endpoint, call: &Call, options: &DeleteOptions, now: Time) -> ApiResult<()> {
        let own_version = version_of(options).is_some();
        endpoint.fresh(call).await?;
        for attempt in 1.. {
            let pod = self.pod(call)?;
            if !ignores_budgets(&pod) {
                break;
            }
            let mut options = options.clone();
            if pod.status.phase == "Pending" && pod.metadata.deletion_timestamp.is_none() && !own_version {
                // Refuses a pod that starts to run meanwhile, which budgets protect.
                set_version(&mut options, &pod.metadata.resource_version);
            }
            match self.remove(endpoint, call, options, now).await {
                Err(error) if error.reason() == Some(Reason::Conflict) && !own_version && attempt < ATTEMPTS => {}
                result => return result,
            }
        }
        let pod = self.pod(call)?;
        let dry_run = !options.dry_run.is_empty();
        let mut options = options.clone();
        let grant = self.check_budgets(&pod, dry_run, now).await?;
        if let Grant::WhileUnhealthy(_) = &grant {
            set_version(&mut options, &pod.metadata.resource_version);
        }
        match (self.remove(endpoint, call, options, now).await, grant) {
            (Err(error), Grant::WhileUnhealthy(budget)) if error.reason() == Some(Reason::Conflict) && !own_version => {
                Err(still_processed(&budget))
            }
            (result, _) => result,
        }
    }

    fn pod(&self, call: &Call) -> ApiResult<Pod> {
        let name = call.name();
        let entry = self.pods.collection().get(&self.pods.key(call.namespace(), name)?);
        let entry = entry.ok_or_else(|| ApiError::not_found(&self.pods.facts().group_resource(), name))?;
        let object = self.pods.decode(&entry)?;
        let pod = object.downcast_ref::<Pod>().cloned();
        pod.ok_or_else(|| ApiError::internal("not a pod"))
    }

    /// Records the reason on the pod, and deletes it.
    async fn remove(&self, endpoint: &Endpoint, call: &Call, mut options: DeleteOptions, now: Time) -> ApiResult<()> {
        if options.dry_run.is_empty() {
            let wanted = version_of(&options).map(str::to_owned);
            let wanted_uid = uid_of(&options).map(str::to_owned);
            let change = |object: &mut dyn Object| {
                let pod = object
                    .downcast_mut::<Pod>()
                    .ok_or_else(|| ApiError::internal("not a pod"))?;
                let uid = &pod.metadata.uid;
                if let Some(wanted) = wanted_uid.as_ref().filter(|wanted| *wanted != uid) {
                    let kind = Pod::RESOURCE.group_kind();
                    return Err(ApiError::uid_precondition(&kind, &pod.metadata.name, wanted, uid));
                }
                let actual = &pod.metadata.resource_version;
                if let Some(wanted) = wanted.as_ref().filter(|wanted| *wanted != actual) {
                    let kind = Pod::RESOURCE.group_kind();
                    return Err(ApiError::version_precondition(
                        &kind,
                        &pod.metadata.name,
                        wanted,
                        actual,
                    ));
                }
                let target = PodCondition {
                    type_: "DisruptionTarget".to_owned(),
                    status: "True".to_owned(),
                    reason: "EvictionByEvictionAPI".to_owned(),
                    message: "Eviction API: evicting".to_owned(),
                    ..PodCondition::default()
                };
                set_condition(&mut pod.status, target, now);
                Ok(())
            };
            let changed = self.pods.modify(call.namespace(), call.name(), false, change).await?;
            if wanted.is_some() {
                set_version(&mut options, &changed.meta().resource_version);
            }
        }
        endpoint.remove(call, options).await
    }

    async fn check_budgets(&self, pod: &Pod, dry_run: bool, now: Time) -> ApiResult<Grant> {
        let budgets = self.budgets_of(pod)?;
        let budget = match budgets.as_slice() {
            [] => return Ok(Grant::Granted),
            [budget] => budget,
            _ => {
                let message =
                    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
                return Err(ApiError::unnamed(500, message));
            }
        };
        let status = &budget.status;
        if !is_ready(pod) {
            let always = budget.spec.unhealthy_pod_eviction_policy.as_deref() == Some("AlwaysAllow");
            let enough = status.current_healthy >= status.desired_healthy && status.desired_healthy > 0;
            if always || enough {
                return Ok(Grant::WhileUnhealthy(budget.metadata.name.clone()));
            }
        }
        let Some(store) = &self.budgets else {
            return Ok(Grant::Granted);
        };
        let (namespace, name) = (&budget.metadata.namespace, &budget.metadata.name);
        let spend = |object: &mut dyn Object| {
            let budget = object.downcast_mut::<PodDisruptionBudget>();
            let budget = budget.ok_or_else(|| ApiError::internal("not a budget"))?;
            let before = budget.clone();
            spend(budget, &pod.metadata.name, now)?;
            self.note_spender(&before, budget, now);
            Ok(())
        };
        store.modify(namespace, name, dry_run, spend).await?;
        Ok(Grant::Granted)
    }

    /// Records the fields that the server has changed in the status of a budget as its own, as for a write of a
    /// client.
    fn note_spender(&self, before: &PodDisruptionBudget, budget: &mut PodDisruptionBudget, now: Time) {
        let write = Tracking {
            manager: "kube-apiserver",
            subresource: "status",
            now,
            resets: &[],
            sent_empty: None,
        };
        if let Err(error) = managers::track_write(Some(before), budget, &write, &*self.scheme) {
            let name = &budget.metadata.name;
            tracing::warn!(
                name,
                error = error.message(),
                "the managed fields of a disruption budget are dropped"
            );
        }
    }

    /// Returns the budgets that select the pod.
    fn budgets_of(&self, pod: &Pod) -> ApiResult<Vec<PodDisruptionBudget>> {
        let Some(store) = &self.budgets else {
            return Ok(Vec::new());
        };
        let prefix = store.prefix(&pod.metadata.namespace);
        let page = store.collection().list(&ListQuery::all(&prefix));
        let page = page.map_err(|_| ApiError::internal("the disruption budgets cannot be listed"))?;
        let mut selecting = Vec::new();
        for entry in &page.entries {
            let object = store.decode(entry)?;
            let Some(budget) = object.downcast_ref::<PodDisruptionBudget>() else {
                continue;
            };
            let query = budget.spec.selector.as_ref().map(LabelQuery::of_selector);
            let label = |key: &str| pod.metadata.labels.get(key).map(String::as_str);
            // An invalid selector selects nothing.
            if query.and_then(Result::ok).is_some_and(|query| query.matches(label)) {
                selecting.push(budget.clone());
            }
        }
        Ok(selecting)
    }
}

impl Subresource for Evictions {
    fn served(&self) -> ServedSubresource {
        ServedSubresource {
            name: "eviction".into(),
            kind: Some(ServedKind {
                group: "policy".into(),
                version: "v1".into(),
                kind: "Eviction".into(),
            }),
            verbs: vec![Verb::Create],
            open_ended: false,
        }
    }

    fn serve<'a>(&'a self, endpoint: Arc<Endpoint>, call: &'a Call, body: Body) -> BoxFuture<'a, ApiResult<Response>> {
        Box::pin(async move {
            let mut submission = endpoint.posted(call, body, POSTED).await?;
            let (dry_run, now) = (submission.is_dry_run(), submission.now());
            let eviction = submission.as_kind::<Eviction>()?;
            if eviction.metadata.name != call.name() {
                return Err(ApiError::bad_request(
                    "name in URL does not match name in Eviction object",
                ));
            }
            let mut options = eviction.delete_options.clone().unwrap_or_default();
            if dry_run {
                require_dry_run(&mut options)?;
            }
            submission.admit().await?;
            self.evict(&endpoint, call, &options, now).await?;
            Ok(submission.done())
        })
    }
}

/// Makes the deletion a dry run, as the request is one. Options that say it in another way are refused.
fn require_dry_run(options: &mut DeleteOptions) -> ApiResult<()> {
    let requested = ["All"];
    if options.dry_run.is_empty() {
        options.dry_run = requested.map(str::to_owned).to_vec();
    }
    if options.dry_run == requested {
        return Ok(());
    }
    let (requested, sent) = (go_format::slice(&requested), go_format::slice(&options.dry_run));
    let message = format!("Non-matching dry-run options in request and content: {requested} and {sent}");
    Err(ApiError::unnamed(500, message))
}

fn uid_of(options: &DeleteOptions) -> Option<&str> {
    let uid = options.preconditions.as_ref()?.uid.as_deref();
    uid.filter(|uid| !uid.is_empty())
}

fn version_of(options: &DeleteOptions) -> Option<&str> {
    let version = options.preconditions.as_ref()?.resource_version.as_deref();
    version.filter(|version| !version.is_empty())
}

fn set_version(options: &mut DeleteOptions, version: &str) {
    let preconditions = options.preconditions.get_or_insert_with(Preconditions::default);
    preconditions.resource_version = Some(version.to_owned());
}

/// True if the pod serves no traffic, so that its deletion disrupts nothing.
fn ignores_budgets(pod: &Pod) -> bool {
    matches!(pod.status.phase.as_str(), "Pending" | "Succeeded" | "Failed") || pod.metadata.deletion_timestamp.is_some()
}

fn is_ready(pod: &Pod) -> bool {
    let mut conditions = pod.status.conditions.iter();
    conditions.any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// Takes one disruption from a budget, if there is one left.
fn spend(budget: &mut PodDisruptionBudget, pod: &str, now: Time) -> ApiResult<()> {
    let name = budget.metadata.name.clone();
    let generation = budget.metadata.generation;
    let status = &mut budget.status;
    let forbidden = |why: &str| {
        let resource = GroupResource::new("policy", "poddisruptionbudget");
        Err(ApiError::forbidden(&resource, &name, why))
    };
    if status.observed_generation < generation {
        return Err(still_processed(&name));
    }
    if status.disruptions_allowed < 0 {
        return forbidden("pdb disruptions allowed is negative");
    }
    if status.disrupted_pods.len() > MAX_DISRUPTED {
        return forbidden("DisruptedPods map too big - too many evictions not confirmed by PDB controller");
    }
    if status.disruptions_allowed == 0 {
        return Err(refused(0, why_exhausted(budget)));
    }
    status.disruptions_allowed -= 1;
    if status.disruptions_allowed == 0 {
        let condition = Condition {
            r#type: "DisruptionAllowed".to_owned(),
            status: "False".to_owned(),
            observed_generation: status.observed_generation,
            last_transition_time: now,
            reason: "InsufficientPods".to_owned(),
            ..Condition::default()
        };
        condition.set_in(&mut status.conditions);
    }
    status.disrupted_pods.insert(pod.to_owned(), now);
    Ok(())
}

/// Returns the reason why a budget allows no disruption.
fn why_exhausted(budget: &PodDisruptionBudget) -> String {
    let (name, status) = (&budget.metadata.name, &budget.status);
    let failed = status
        .conditions
        .iter()
        .find(|condition| condition.reason == "SyncFailed");
    if let Some(failed) = failed.filter(|condition| condition.status == "False") {
        let why = &failed.message;
        return format!(
            "The disruption budget {name} does not allow evicting pods currently because it failed sync: {why}"
        );
    }
    let (desired, current) = (status.desired_healthy, status.current_healthy);
    match current <= desired {
        true => format!("The disruption budget {name} needs {desired} healthy pods and has {current} currently"),
        false => format!("The disruption budget {name} does not allow evicting pods currently"),
    }
}

fn still_processed(budget: &str) -> ApiError {
    let why = format!("The disruption budget {budget} is still being processed by the server.");
    refused(10, why)
}

fn refused(retry_after_seconds: i32, why: String) -> ApiError {
    ApiError::too_many_requests(REFUSED, retry_after_seconds).with_cause(Cause {
        reason: "DisruptionBudget".to_owned(),
        message: why,
        field: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_a_dry_run_may_repeat_it_and_say_nothing_else() {
        let required = |sent: &[&str]| {
            let mut options = DeleteOptions {
                dry_run: sent.iter().map(|&value| value.to_owned()).collect(),
                ..DeleteOptions::default()
            };
            require_dry_run(&mut options).map(|()| options.dry_run)
        };
        for sent in [&[][..], &["All"]] {
            assert_eq!(required(sent).unwrap(), ["All"]);
        }
        let refused = required(&["x"]).unwrap_err();
        assert_eq!(
            refused.message(),
            "Non-matching dry-run options in request and content: [All] and [x]"
        );
        assert_eq!((refused.code(), refused.reason()), (500, None));
    }
}
