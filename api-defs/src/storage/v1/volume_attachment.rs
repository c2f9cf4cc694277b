//! Attachments of volumes to nodes.

use std::collections::BTreeMap;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::names;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::table::Cell;
use planesmith_machinery::time::Time;
use planesmith_machinery::{Resource, Struct};

use crate::core::v1::{PersistentVolumeSpec, check_driver_name};

/// A request to attach a volume to a node, and its state.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "storage.k8s.io",
    version = "v1",
    cluster,
    status,
    status_resets("metadata"),
    conditional_update,
    returns_deleted,
    strategy,
    strategy_extensions
)]
#[resource(column(name), column(name = "Attacher", type = "string", format = "name", doc = "The attacher.", path = "spec.attacher"), column(name = "PV", type = "string", doc = "The volume.", with = volume_cell), column(name = "Node", type = "string", doc = "The node.", path = "spec.nodeName"), column(name = "Attached", type = "boolean", doc = "True if the volume is attached.", with = attached_cell), column(age))]
pub struct VolumeAttachment {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The volume, its node and its attacher. Immutable.
    #[field(proto = 2, keep)]
    pub spec: VolumeAttachmentSpec,
    /// State of the attachment, reported by the attacher.
    #[field(proto = 3)]
    pub status: VolumeAttachmentStatus,
}

/// The volume to attach, its node and its attacher.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeAttachmentSpec {
    /// Name of the storage driver that attaches the volume.
    #[field(proto = 1, keep)]
    pub attacher: String,
    /// The volume to attach.
    #[field(proto = 2, keep)]
    pub source: VolumeAttachmentSource,
    /// Name of the node.
    #[field(proto = 3, keep)]
    pub node_name: String,
}

/// The volume to attach. Exactly one field is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeAttachmentSource {
    /// Name of a persistent volume.
    #[field(proto = 1)]
    pub persistent_volume_name: Option<String>,
    /// Spec of an inline volume, translated from an in-tree driver.
    #[field(proto = 2)]
    pub inline_volume_spec: Option<PersistentVolumeSpec>,
}

/// State of an attachment.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeAttachmentStatus {
    /// True if the volume is attached.
    #[field(proto = 1, keep)]
    pub attached: bool,
    /// Metadata from the attacher for subsequent calls.
    #[field(proto = 2)]
    pub attachment_metadata: BTreeMap<String, String>,
    /// Error of the last failed attach operation.
    #[field(proto = 3)]
    pub attach_error: Option<VolumeError>,
    /// Error of the last failed detach operation.
    #[field(proto = 4)]
    pub detach_error: Option<VolumeError>,
}

/// An error of a volume operation.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeError {
    /// Time of the error.
    #[field(proto = 1)]
    pub time: Time,
    /// Human-readable description of the error. Contains no secrets.
    #[field(proto = 2)]
    pub message: String,
    /// gRPC status code of the driver's error.
    #[field(proto = 3)]
    pub error_code: Option<i32>,
}

/// Maximum size of an attachment's metadata, in bytes.
const MAX_METADATA: usize = 256 * 1024;

/// Maximum length of an error message in bytes.
const MAX_MESSAGE: usize = 1024;

fn volume_cell(attachment: &VolumeAttachment) -> Cell {
    Cell::Text(
        attachment
            .spec
            .source
            .persistent_volume_name
            .clone()
            .unwrap_or_default(),
    )
}

fn attached_cell(attachment: &VolumeAttachment) -> Cell {
    Cell::Bool(attachment.status.attached)
}

impl Strategy for VolumeAttachment {
    fn prepare_for_status_update(&mut self, _: &Context<'_>, old: &Self) {
        self.metadata.keep_for_status(&old.metadata);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(&mut errors.at("spec"));
        self.status.check(&mut errors.at("status"));
        if let Some(name) = &self.spec.source.persistent_volume_name {
            for problem in names::dns_subdomain(name) {
                errors.invalid("spec.source.persistentVolumeName", name, problem);
            }
        }
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if self.spec != old.spec {
            errors.invalid("spec", GoValue(&self.spec), "field is immutable");
        }
    }

    fn validate_status_update(&self, _old: &Self, errors: &mut FieldErrors) {
        self.validate(errors);
    }
}

impl StrategyExtensions for VolumeAttachment {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_ONLY;
}

impl VolumeAttachmentSpec {
    fn check(&self, errors: &mut FieldErrors) {
        const ONE: &str = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
        check_driver_name("attacher", &self.attacher, errors);
        match (
            &self.source.inline_volume_spec,
            self.source.persistent_volume_name.as_deref(),
        ) {
            (None, None) => errors.required("source", ONE),
            (Some(_), Some(_)) => errors.forbidden("source", ONE),
            (None, Some("")) => errors.required(
                "source.persistentVolumeName",
                "must specify non empty persistentVolumeName",
            ),
            (None, Some(_)) => {}
            (Some(volume), None) => volume.check_inline(&mut errors.at("source.inlineVolumeSpec")),
        }
        for problem in names::dns_subdomain(&self.node_name) {
            errors.invalid("nodeName", &self.node_name, problem);
        }
    }
}

impl VolumeAttachmentStatus {
    fn check(&self, errors: &mut FieldErrors) {
        let metadata = self.attachment_metadata.iter();
        let weight: usize = metadata.map(|(key, value)| key.len() + value.len()).sum();
        if weight > MAX_METADATA {
            errors.too_long("attachmentMetadata", MAX_METADATA as u64);
        }
        for (field, error) in [("attachError", &self.attach_error), ("detachError", &self.detach_error)] {
            let Some(error) = error else { continue };
            let errors = &mut *errors.at(field);
            if error.message.len() > MAX_MESSAGE {
                // As in kube-apiserver, the error states a different limit.
                errors.too_long("message", MAX_METADATA as u64);
            }
            if let Some(code @ ..0) = error.error_code {
                errors.invalid("errorCode", code, "must be between 0 and 2147483647, inclusive");
            }
        }
    }
}
