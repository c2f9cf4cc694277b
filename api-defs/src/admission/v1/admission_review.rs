//! Questions to admission webhooks.

use std::collections::BTreeMap;

use crate::authentication::v1::UserInfo;
use planesmith_machinery::Struct;
use planesmith_machinery::byte_string::ByteString;
use planesmith_machinery::meta::{GroupVersionKind, GroupVersionResource, Status};
use planesmith_machinery::raw::RawExtension;

/// A question to an admission webhook, or its answer.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("admission.k8s.io/v1", "AdmissionReview"))]
pub struct AdmissionReview {
    /// The question.
    #[field(proto = 1)]
    pub request: Option<AdmissionRequest>,
    /// The answer.
    #[field(proto = 2)]
    pub response: Option<AdmissionResponse>,
}

/// A write that an admission webhook is asked about.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct AdmissionRequest {
    /// Tells this question apart from others; the answer repeats it.
    #[field(proto = 1, keep, optional, go_type = "types.UID")]
    pub uid: String,
    /// The kind of the object as the webhook sees it.
    #[field(proto = 2, keep, optional)]
    pub kind: GroupVersionKind,
    /// The resource as the webhook sees it.
    #[field(proto = 3, keep, optional)]
    pub resource: GroupVersionResource,
    /// The subresource, if any.
    #[field(proto = 4)]
    pub sub_resource: String,
    /// The kind as the client wrote it.
    #[field(proto = 13)]
    pub request_kind: Option<GroupVersionKind>,
    /// The resource as the client addressed it.
    #[field(proto = 14)]
    pub request_resource: Option<GroupVersionResource>,
    /// The subresource as the client addressed it.
    #[field(proto = 15)]
    pub request_sub_resource: String,
    /// Name of the object; may be empty when the server is to make one.
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
    /// The object as it would be.
    #[field(proto = 9)]
    pub object: RawExtension,
    /// The object as it is; for UPDATE and DELETE.
    #[field(proto = 10)]
    pub old_object: RawExtension,
    /// Nothing will be stored; the webhook must not have side effects.
    #[field(proto = 11)]
    pub dry_run: Option<bool>,
    /// The options of the write, such as CreateOptions.
    #[field(proto = 12)]
    pub options: RawExtension,
}

/// The answer of an admission webhook to a request.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct AdmissionResponse {
    /// That of the question.
    #[field(proto = 1, keep, optional, go_type = "types.UID")]
    pub uid: String,
    /// True if the request is admitted.
    #[field(proto = 2, keep, optional)]
    pub allowed: bool,
    /// Reason of the refusal, which the client receives. Ignored when the request is allowed.
    #[field(proto = 3)]
    pub status: Option<Status>,
    /// Change to apply to the object, in the format that patchType names.
    #[field(proto = 4)]
    pub patch: ByteString,
    /// The form of the patch; only JSONPatch.
    #[field(proto = 5, go_type = "PatchType")]
    pub patch_type: Option<String>,
    /// Added to the audit event of the request, under the webhook's name.
    #[field(proto = 6)]
    pub audit_annotations: BTreeMap<String, String>,
    /// Sent to the client; at most 120 characters each, if possible.
    #[field(proto = 7, list_type = atomic)]
    pub warnings: Vec<String>,
}
