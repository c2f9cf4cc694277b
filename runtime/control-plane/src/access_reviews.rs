//! Authorization by another server, which answers SubjectAccessReviews: a webhook, or the server in front of this one.
//!
//! Reading order: [`review_spec`] (the question), `decision_cache`, [`AccessReviews`].

mod decision_cache;
mod spec;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::ValueEnum;
use planesmith_access::authorization::{
    Attributes, AuthorizationOutcome, Authorizer, Decision, Reason, Selectors, Target,
};
use planesmith_server::metrics::{ReviewMetrics, ReviewResult};
use serde_json::{Value, json};

use self::decision_cache::DecisionCache;
use self::spec::without_empty_members;
use crate::delegation::Host;
use crate::outbound::{Network, Outbound};
use crate::resource_client::text;

pub use spec::review_spec;

/// The path of SubjectAccessReviews in a Kubernetes server.
const PATH: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

/// The time for which answers of the server in front are cached; kube-apiserver's value for servers behind it.
const TTL: Duration = Duration::from_secs(10);
/// The longest time that the server in front may take to answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The total length in bytes from which on attributes are not cached, because clients choose them; kube-apiserver's value.
const MAX_CACHED_LENGTH: usize = 10_000;

/// The text that a client reads when the other server does not answer; the reason is only logged.
const UNKNOWN: &str = "the action cannot be reviewed";

/// A version of SubjectAccessReviews.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReviewVersion {
    /// `authorization.k8s.io/v1`.
    V1,
    /// `authorization.k8s.io/v1beta1`.
    V1beta1,
}

impl ReviewVersion {
    const fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "authorization.k8s.io/v1",
            Self::V1beta1 => "authorization.k8s.io/v1beta1",
        }
    }
}

/// The decision if the other server does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailurePolicy {
    /// Other authorizers may allow the action.
    NoOpinion,
    /// The action is denied.
    Deny,
}

impl FailurePolicy {
    /// Returns the decision after a failure, with `why` for clients.
    #[must_use]
    pub fn decision(self, why: String) -> Decision {
        match self {
            Self::NoOpinion => Decision::Failed(why),
            Self::Deny => Decision::FailedClosed(why),
        }
    }
}

/// Settings of the reviews by another server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewSettings {
    /// The version that the server receives.
    pub version: ReviewVersion,
    /// The time for which permissions are cached; zero disables the cache.
    pub authorized_ttl: Duration,
    /// The time for which refusals are cached; zero disables the cache.
    pub unauthorized_ttl: Duration,
    /// The longest time that the server may take to answer.
    pub timeout: Duration,
    /// The decision if it does not answer.
    pub failure_policy: FailurePolicy,
}

/// Asks another server to review actions.
#[derive(Debug)]
pub struct AccessReviews(Arc<Reviewer>);

#[derive(Debug)]
struct Reviewer {
    host: Host,
    /// Behind the URL of the host.
    path: &'static str,
    settings: ReviewSettings,
    decisions: DecisionCache,
    /// `None` for the server in front.
    metrics: Option<ReviewMetrics>,
}

impl AccessReviews {
    /// Asks the webhook that a kubeconfig describes, and counts in `metrics`: the URL of its cluster is that of the webhook.
    ///
    /// # Errors
    ///
    /// The entry that is missing in the file, or cannot be used.
    pub fn of_webhook(
        kubeconfig: &Path,
        settings: ReviewSettings,
        metrics: ReviewMetrics,
        outbound: &Outbound,
    ) -> Result<Self> {
        Ok(Self::new(
            Host::open_in(Network::ControlPlane, kubeconfig, outbound)?,
            "",
            settings,
            Some(metrics),
        ))
    }

    /// Asks the server in front of this one.
    pub(crate) fn of_front(host: Host) -> Self {
        let settings = ReviewSettings {
            version: ReviewVersion::V1,
            authorized_ttl: TTL,
            unauthorized_ttl: TTL,
            timeout: TIMEOUT,
            failure_policy: FailurePolicy::NoOpinion,
        };
        Self::new(host, PATH, settings, None)
    }

    fn new(host: Host, path: &'static str, settings: ReviewSettings, metrics: Option<ReviewMetrics>) -> Self {
        Self(Arc::new(Reviewer {
            host: host.with_timeout(settings.timeout),
            path,
            settings,
            decisions: DecisionCache::default(),
            metrics,
        }))
    }

    /// Decides about an action, whose [`review_spec`] is `spec`: at once if the answer is cached.
    pub fn review(&self, attributes: &Attributes<'_>, mut spec: Value) -> AuthorizationOutcome {
        without_empty_members(&mut spec);
        let question = spec.to_string();
        if let Some(decision) = self.0.decisions.get(&question, Instant::now()) {
            return decision.into();
        }
        let reviewer = Arc::clone(&self.0);
        let is_cached = length(attributes) < MAX_CACHED_LENGTH;
        AuthorizationOutcome::pending(async move {
            let settings = &reviewer.settings;
            let decision = match reviewer.send(spec).await {
                Some(answer) => decision(&answer),
                None => return settings.failure_policy.decision(UNKNOWN.to_owned()),
            };
            let ttl = match decision.is_allowed() {
                true => settings.authorized_ttl,
                false => settings.unauthorized_ttl,
            };
            if is_cached {
                reviewer.decisions.put(question, &decision, Instant::now(), ttl);
            }
            decision
        })
    }
}

impl Authorizer for AccessReviews {
    fn authorize(&self, attributes: &Attributes<'_>) -> AuthorizationOutcome {
        self.review(attributes, review_spec(attributes))
    }
}

impl Reviewer {
    /// Returns the review with its status; `None`, after a warning in the log, if there is none.
    async fn send(&self, spec: Value) -> Option<Value> {
        let version = self.settings.version;
        let in_flight = self.metrics.as_ref().map(ReviewMetrics::begin);
        let document = review(version, spec).to_string().into_bytes();
        let answer = self.host.post_repeatedly(self.path, document).await;
        let answer = answer.and_then(|answer| match is_review(&answer, version) {
            true => Ok(answer),
            false => Err(format!(
                "the answer is no SubjectAccessReview of {}",
                version.api_version()
            )),
        });
        if let Some(in_flight) = in_flight {
            in_flight.finish(match &answer {
                Ok(_) => ReviewResult::Success,
                Err(why) if why == "context deadline exceeded" => ReviewResult::Timeout,
                Err(_) => ReviewResult::Error,
            });
        }
        match answer {
            Ok(answer) => Some(answer),
            Err(error) => {
                tracing::warn!(error, "an action cannot be reviewed");
                None
            }
        }
    }
}

/// Returns the question in a version. The field of groups has another name in the older one.
fn review(version: ReviewVersion, mut spec: Value) -> Value {
    if version == ReviewVersion::V1beta1
        && let Some(groups) = spec.as_object_mut().and_then(|spec| spec.remove("groups"))
    {
        spec["group"] = groups;
    }
    json!({
        "apiVersion": version.api_version(),
        "kind": "SubjectAccessReview",
        "metadata": {},
        "spec": spec,
        "status": {"allowed": false},
    })
}

fn is_review(answer: &Value, version: ReviewVersion) -> bool {
    text(answer, "/kind") == "SubjectAccessReview" && text(answer, "/apiVersion") == version.api_version()
}

/// The length of the attributes that clients choose. Unlike in kube-apiserver, selectors count, too.
fn length(attributes: &Attributes<'_>) -> usize {
    let target = match attributes.target {
        Target::Path(path) => path.len(),
        Target::Resource {
            group,
            version,
            resource,
            subresource,
            namespace,
            name,
        } => {
            let parts = [group, version, resource, subresource, namespace, name];
            parts.into_iter().map(str::len).sum()
        }
    };
    let Selectors { field, label } = attributes.selectors;
    attributes.verb.len() + target + field.len() + label.len()
}

fn decision(answer: &Value) -> Decision {
    let says = |field| answer.pointer(field) == Some(&Value::Bool(true));
    let reason = text(answer, "/status/reason").to_owned();
    match (says("/status/allowed"), says("/status/denied")) {
        (true, true) => {
            let why = "webhook subject access review returned both allow and deny response";
            Decision::FailedClosed(why.to_owned())
        }
        (false, true) => Decision::Deny(reason),
        (true, false) => Decision::Allow(Reason::new("", Arc::new(reason))),
        (false, false) => Decision::NoOpinion(reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_answer_is_no_permission() {
        assert_eq!(decision(&json!({"status": {"allowed": true}})), Decision::ALLOW);
        let denied = json!({"status": {"denied": true, "reason": "never"}});
        assert_eq!(decision(&denied), Decision::Deny("never".to_owned()));
        let both = json!({"status": {"allowed": true, "denied": true}});
        assert!(matches!(decision(&both), Decision::FailedClosed(_)));
        assert_eq!(decision(&json!({})), Decision::NoOpinion(String::new()));
        let other =
            json!({"apiVersion": "authorization.k8s.io/v1", "kind": "TokenReview", "status": {"allowed": true}});
        assert!(!is_review(&other, ReviewVersion::V1));
    }

    #[test]
    fn the_older_version_names_groups_otherwise() {
        let spec = json!({"user": "carol", "groups": ["dev"]});
        let review = review(ReviewVersion::V1beta1, spec);
        assert_eq!(review["apiVersion"], "authorization.k8s.io/v1beta1");
        assert_eq!(review["spec"], json!({"user": "carol", "group": ["dev"]}));
    }
}
