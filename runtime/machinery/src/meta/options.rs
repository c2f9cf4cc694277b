//! Parameters of requests, as bodies and query strings carry them.

use crate::Struct;

/// Parameters of a deletion.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1", "DeleteOptions"))]
pub struct DeleteOptions {
    /// Seconds before the object is deleted; 0 deletes at once, absent means the default of the kind.
    #[field(proto = 1)]
    pub grace_period_seconds: Option<i64>,
    /// What must hold for the deletion to go ahead; otherwise the answer is a conflict.
    #[field(proto = 2)]
    pub preconditions: Option<Preconditions>,
    /// Whether dependents are left behind. Replaced by the propagation policy; only one of the two may be set.
    #[field(proto = 3)]
    pub orphan_dependents: Option<bool>,
    /// What happens to dependents: `Orphan`, `Background` or `Foreground`; absent means the default of the kind.
    #[field(proto = 4, go_type = "DeletionPropagation")]
    pub propagation_policy: Option<String>,
    /// `All` when nothing shall be stored.
    #[field(proto = 5, list_type = atomic)]
    pub dry_run: Vec<String>,
    /// Deletes the object even when it cannot be read from the store, past its finalizers and preconditions.
    #[field(proto = 6)]
    pub ignore_store_read_error_with_cluster_breaking_potential: Option<bool>,
}

/// What must hold for a change to go ahead.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Preconditions {
    /// The UID that the object must have.
    #[field(proto = 1, go_type = "types.UID")]
    pub uid: Option<String>,
    /// The version that the object must have.
    #[field(proto = 2)]
    pub resource_version: Option<String>,
}

/// Parameters of a creation.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("meta.k8s.io/v1", "CreateOptions"))]
pub struct CreateOptions {
    /// `All` when nothing shall be stored.
    #[field(proto = 1, list_type = atomic)]
    pub dry_run: Vec<String>,
    /// Name of the manager whose fields these become.
    #[field(proto = 3)]
    pub field_manager: String,
    /// What to do about unknown and duplicate fields: `Ignore`, `Warn` or `Strict`.
    #[field(proto = 4)]
    pub field_validation: String,
}

/// Parameters of an update.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("meta.k8s.io/v1", "UpdateOptions"))]
pub struct UpdateOptions {
    /// `All` when nothing shall be stored.
    #[field(proto = 1, list_type = atomic)]
    pub dry_run: Vec<String>,
    /// Name of the manager whose fields these become.
    #[field(proto = 2)]
    pub field_manager: String,
    /// What to do about unknown and duplicate fields: `Ignore`, `Warn` or `Strict`.
    #[field(proto = 3)]
    pub field_validation: String,
}

/// Parameters of a patch.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("meta.k8s.io/v1", "PatchOptions"))]
pub struct PatchOptions {
    /// `All` when nothing shall be stored.
    #[field(proto = 1, list_type = atomic)]
    pub dry_run: Vec<String>,
    /// Takes over fields that others own; only for apply.
    #[field(proto = 2)]
    pub force: Option<bool>,
    /// Name of the manager whose fields these become; needed for apply.
    #[field(proto = 3)]
    pub field_manager: String,
    /// What to do about unknown and duplicate fields: `Ignore`, `Warn` or `Strict`.
    #[field(proto = 4)]
    pub field_validation: String,
}

/// Parameters of a read.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("meta.k8s.io/v1", "GetOptions"))]
pub struct GetOptions {
    /// How fresh the answer must be: at least this version; `0` means any.
    #[field(proto = 1)]
    pub resource_version: String,
}

/// Parameters of a list or watch.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("meta.k8s.io/v1", "ListOptions"))]
pub struct ListOptions {
    /// Selects by labels.
    #[field(proto = 1)]
    pub label_selector: String,
    /// Selects by fields.
    #[field(proto = 2)]
    pub field_selector: String,
    /// Asks for a stream of changes instead of a list.
    #[field(proto = 3)]
    pub watch: bool,
    /// Asks for bookmarks in a watch: events that only tell how far the stream is.
    #[field(proto = 9)]
    pub allow_watch_bookmarks: bool,
    /// Which version to show or to start from.
    #[field(proto = 4)]
    pub resource_version: String,
    /// How the version is meant for a list: `Exact` or `NotOlderThan`.
    #[field(proto = 10, go_type = "ResourceVersionMatch")]
    pub resource_version_match: String,
    /// Seconds after which the request ends, whatever happens.
    #[field(proto = 5)]
    pub timeout_seconds: Option<i64>,
    /// Most items per page; 0 means all.
    #[field(proto = 7)]
    pub limit: i64,
    /// The next page, from the metadata of the one before.
    #[field(proto = 8)]
    pub r#continue: String,
    /// Asks a watch to start with the objects that exist.
    #[field(proto = 11)]
    pub send_initial_events: Option<bool>,
    /// Asks for a part of the collection.
    #[field(proto = 15)]
    pub shard_selector: String,
}
