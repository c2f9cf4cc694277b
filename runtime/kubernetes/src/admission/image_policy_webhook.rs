//! Asks a webhook about the images of pods. Its kubeconfig is in the configuration of the plugin.

mod configuration;
mod decisions;

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use planesmith_access::admission::{AdmissionFuture, Attributes, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::core::v1::Pod;
use planesmith_api_defs::imagepolicy::v1alpha1::{
    ImageReview, ImageReviewContainerSpec, ImageReviewSpec, ImageReviewStatus,
};
use planesmith_control_plane::Host;
use planesmith_control_plane::outbound::Outbound;
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::status::ApiResult;
use serde_json::Value;

use self::configuration::Configuration;
use self::decisions::Decisions;

/// The part of a key by which an annotation of a pod is for the webhook.
const FOR_WEBHOOK: &str = ".image-policy.k8s.io/";

/// The start of the keys of audit annotations.
const AUDIT: &str = "imagepolicywebhook.image-policy.k8s.io";

/// Asks a webhook about the images of pods.
pub(super) struct ImagePolicyWebhook {
    host: Host,
    configuration: Configuration,
    decisions: Decisions,
}

impl ImagePolicyWebhook {
    /// Reads the plugin's `configuration`, and the kubeconfig that it names. Reviews use `outbound`.
    ///
    /// # Errors
    ///
    /// One of them cannot be read, or a value is out of range.
    pub(super) fn new(configuration: Option<&Value>, outbound: &Outbound) -> Result<Self> {
        let configuration = Configuration::read(configuration)?;
        Ok(Self {
            host: Host::open(Path::new(&configuration.kubeconfig), outbound)?,
            configuration,
            decisions: Decisions::default(),
        })
    }

    /// Returns the decision about a review, which may have been made before.
    async fn decide(&self, review: &ImageReview) -> Result<ImageReviewStatus, String> {
        let key = json::to_vec(&review.spec);
        if let Some(known) = self.decisions.get(&key, Instant::now()) {
            return Ok(known);
        }
        let answer = self.host.post("", json::to_vec(review)).await?;
        let mut decided = ImageReview::default();
        json::from_value(&answer, &mut decided, Strictness::Lenient).map_err(|error| error.to_string())?;
        let lifetime = match decided.status.allowed {
            true => self.configuration.allow_ttl,
            false => self.configuration.deny_ttl,
        };
        self.decisions.add(key, &decided.status, Instant::now() + lifetime);
        Ok(decided.status)
    }

    async fn check(&self, attributes: &Attributes<'_>, objects: &Objects<'_>, review: &ImageReview) -> ApiResult<()> {
        let refuse = |why: &str| Err(attributes.forbidden(objects.new.as_deref(), why));
        let status = match self.decide(review).await {
            Ok(status) => status,
            Err(why) => {
                tracing::warn!(%why, allowed = self.configuration.default_allow, "the webhook for images gave no answer");
                if !self.configuration.default_allow {
                    return refuse(&why);
                }
                annotate(attributes, "failed-open", "true");
                return Ok(());
            }
        };
        for (key, value) in &status.audit_annotations {
            annotate(attributes, key, value);
        }
        match (status.allowed, status.reason.as_str()) {
            (true, _) => Ok(()),
            (false, "") => refuse("one or more images rejected by webhook backend"),
            (false, reason) => refuse(&format!(
                "image policy webhook backend denied one or more images: {reason}"
            )),
        }
    }
}

impl Plugin for ImagePolicyWebhook {
    fn name(&self) -> &'static str {
        "ImagePolicyWebhook"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        matches!(operation, Operation::Create | Operation::Update) && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        let pod = objects.new_as::<Pod>().filter(|_| attributes.is_for("", "pods"));
        let review = pod.and_then(|pod| review(attributes, pod));
        match review {
            Some(review) => Box::pin(async move { self.check(attributes, objects, &review).await }),
            None => decided(Ok(())),
        }
    }
}

/// Returns the review of the images that a request can change; `None` if it can change none.
fn review(attributes: &Attributes<'_>, pod: &Pod) -> Option<ImageReview> {
    let spec = &pod.spec;
    let images: Vec<&String> = match attributes.subresource {
        "" => spec
            .containers
            .iter()
            .chain(&spec.init_containers)
            .map(|container| &container.image)
            .collect(),
        "ephemeralcontainers" => spec
            .ephemeral_containers
            .iter()
            .map(|container| &container.ephemeral_container_common.image)
            .collect(),
        _ => return None,
    };
    let containers = images
        .into_iter()
        .map(|image| ImageReviewContainerSpec { image: image.clone() });
    let annotations = pod.metadata.annotations.iter();
    let annotations = annotations.filter(|(key, _)| key.contains(FOR_WEBHOOK));
    Some(ImageReview {
        spec: ImageReviewSpec {
            containers: containers.collect(),
            annotations: annotations.map(|(key, value)| (key.clone(), value.clone())).collect(),
            namespace: attributes.namespace.to_owned(),
        },
        ..ImageReview::default()
    })
}

fn annotate(attributes: &Attributes<'_>, key: &str, value: &str) {
    attributes.annotations.add(format!("{AUDIT}/{key}"), value);
}

#[cfg(test)]
mod tests {
    use planesmith_access::user::UserInfo;
    use planesmith_machinery::object::Resource as _;
    use serde_json::json;

    use super::*;
    use crate::admission::testing::object;

    #[test]
    fn a_review_has_the_images_that_the_request_can_change() {
        let pod: Pod = object(json!({"metadata": {"name": "p", "annotations": {
                "ticket.image-policy.k8s.io/number": "7", "other": "x"}},
            "spec": {"containers": [{"name": "a", "image": "one"}], "initContainers": [{"name": "b", "image": "two"}],
                "ephemeralContainers": [{"name": "c", "image": "three"}]}}));
        let user = UserInfo::default();
        let review = |subresource: &str| {
            let attributes = Attributes {
                subresource,
                namespace: "ns",
                ..Attributes::new(Operation::Create, Pod::RESOURCE, &user)
            };
            review(&attributes, &pod).map(|review| json::to_value(&review.spec))
        };
        let spec = |images: &[&str]| {
            let containers: Vec<Value> = images.iter().map(|image| json!({"image": image})).collect();
            Some(json!({"containers": containers, "namespace": "ns",
                "annotations": {"ticket.image-policy.k8s.io/number": "7"}}))
        };
        assert_eq!(review(""), spec(&["one", "two"]));
        assert_eq!(review("ephemeralcontainers"), spec(&["three"]));
        assert_eq!(review("status"), None);
    }
}
