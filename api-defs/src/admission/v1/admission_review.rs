//! Reviews by admission webhooks.

use std::collections::BTreeMap;

use crate::authentication::v1::UserInfo;
use planesmith_machinery::Struct;
use planesmith_machinery::byte_string::ByteString;
use planesmith_machinery::meta::{GroupVersionKind, GroupVersionResource, Status};
use planesmith_machinery::raw::RawExtension;

/// A request to an admission webhook, or its response.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("admission.k8s.io/v1", "AdmissionReview"))]
pub struct AdmissionReview {
    /// The request to the webhook.
    #[field(proto = 1)]
    pub request: Option<AdmissionRequest>,
    /// The response of the webhook.
    #[field(proto = 2)]
    pub response: Option<AdmissionResponse>,
}

/// A client's request that an admission webhook reviews.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct AdmissionRequest {
    /// ID of the review, which the response repeats.
    #[field(proto = 1, keep, optional, go_type = "types.UID")]
    pub uid: String,
    /// Kind of the object in the version that is sent to the webhook.
    #[field(proto = 2, keep, optional)]
    pub kind: GroupVersionKind,
    /// Resource in the version that is sent to the webhook.
    #[field(proto = 3, keep, optional)]
    pub resource: GroupVersionResource,
    /// The subresource, if any.
    #[field(proto = 4)]
    pub sub_resource: String,
    /// Kind of the object in the client's request.
    #[field(proto = 13)]
    pub request_kind: Option<GroupVersionKind>,
    /// Resource in the client's request.
    #[field(proto = 14)]
    pub request_resource: Option<GroupVersionResource>,
    /// Subresource in the client's request.
    #[field(proto = 15)]
    pub request_sub_resource: String,
    /// Name of the object. May be empty on creation if the server generates the name.
    #[field(proto = 5)]
    pub name: String,
    /// Namespace of the object, if it has one.
    #[field(proto = 6)]
    pub namespace: String,
    /// CREATE, UPDATE, DELETE or CONNECT.
    #[field(proto = 7, keep, optional, go_type = "Operation")]
    pub operation: String,
    /// The user who sent the request.
    #[field(proto = 8, keep, optional)]
    pub user_info: UserInfo,
    /// The object after the change.
    #[field(proto = 9)]
    pub object: RawExtension,
    /// The object before the change. Set for UPDATE and DELETE.
    #[field(proto = 10)]
    pub old_object: RawExtension,
    /// True for a dry run: nothing is stored, and the webhook must not have side effects.
    #[field(proto = 11)]
    pub dry_run: Option<bool>,
    /// Options of the operation, such as CreateOptions.
    #[field(proto = 12)]
    pub options: RawExtension,
}

/// The answer of an admission webhook to a request.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct AdmissionResponse {
    /// The uid of the request.
    #[field(proto = 1, keep, optional, go_type = "types.UID")]
    pub uid: String,
    /// True if the request is admitted.
    #[field(proto = 2, keep, optional)]
    pub allowed: bool,
    /// Reason of the refusal, which the client receives. Ignored when the request is allowed.
    #[field(proto = 3, go_name = "Result")]
    pub status: Option<Status>,
    /// Change to apply to the object, in the format that patchType names.
    #[field(proto = 4)]
    pub patch: ByteString,
    /// Format of the patch. Only JSONPatch is allowed.
    #[field(proto = 5, go_type = "PatchType")]
    pub patch_type: Option<String>,
    /// Annotations for the audit event of the request. The webhook's name is prefixed to their keys.
    #[field(proto = 6)]
    pub audit_annotations: BTreeMap<String, String>,
    /// Warnings for the client, preferably at most 120 characters each.
    #[field(proto = 7, list_type = atomic)]
    pub warnings: Vec<String>,
}
