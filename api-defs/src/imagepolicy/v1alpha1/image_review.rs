//! Reviews of images by a webhook.

use std::collections::BTreeMap;

use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::{Resource, Struct};

/// A review of a pod's images by a webhook. Never stored.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "imagepolicy.k8s.io", version = "v1alpha1", cluster, unserved)]
pub struct ImageReview {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Images to review.
    #[field(proto = 2, keep, optional)]
    pub spec: ImageReviewSpec,
    /// Decision of the webhook.
    #[field(proto = 3)]
    pub status: ImageReviewStatus,
}

/// The images of a pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ImageReviewSpec {
    /// Images of the containers.
    #[field(proto = 1, list_type = atomic)]
    pub containers: Vec<ImageReviewContainerSpec>,
    /// Annotations of the pod whose keys match *.image-policy.k8s.io/*.
    #[field(proto = 2)]
    pub annotations: BTreeMap<String, String>,
    /// Namespace of the pod.
    #[field(proto = 3)]
    pub namespace: String,
}

/// The image of a container.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ImageReviewContainerSpec {
    /// Image reference by tag or digest.
    #[field(proto = 1)]
    pub image: String,
}

/// The decision of a webhook about images.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ImageReviewStatus {
    /// True if all images are allowed.
    #[field(proto = 1, keep, optional)]
    pub allowed: bool,
    /// Short reason of a refusal.
    #[field(proto = 2)]
    pub reason: String,
    /// Annotations for the audit event of the request.
    #[field(proto = 3)]
    pub audit_annotations: BTreeMap<String, String>,
}
