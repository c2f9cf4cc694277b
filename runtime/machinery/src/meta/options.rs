//! Options of requests, sent as body or query parameters.

use crate::Struct;

/// Parameters of a deletion.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1", "DeleteOptions"))]
pub struct DeleteOptions {
    /// Seconds before the object is deleted; 0 deletes immediately, absent means the default of the kind.
    #[field(proto = 1)]
    pub grace_period_seconds: Option<i64>,
    /// Preconditions of the deletion; the request fails with a conflict if one is not met.
    #[field(proto = 2)]
    pub preconditions: Option<Preconditions>,
    /// True to orphan dependents. Deprecated by the propagation policy; only one of the two may be set.
    #[field(proto = 3)]
    pub orphan_dependents: Option<bool>,
    /// Propagation to dependents: `Orphan`, `Background` or `Foreground`; absent means the default of the kind.
    #[field(proto = 4, go_type = "DeletionPropagation")]
    pub propagation_policy: Option<String>,
    /// `All` processes the request without persisting changes.
    #[field(proto = 5, list_type = atomic)]
    pub dry_run: Vec<String>,
    /// Deletes the object even if it cannot be read from the store; bypasses its finalizers and the preconditions.
    #[field(proto = 6)]
    pub ignore_store_read_error_with_cluster_breaking_potential: Option<bool>,
}

/// Preconditions of a change.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Preconditions {
    /// Required UID of the object; absent means any.
    #[field(proto = 1, go_type = "types.UID")]
    pub uid: Option<String>,
    /// Required resource version of the object; absent means any.
    #[field(proto = 2)]
    pub resource_version: Option<String>,
}

/// Parameters of a creation.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("meta.k8s.io/v1", "CreateOptions"))]
pub struct CreateOptions {
    /// `All` processes the request without persisting changes.
    #[field(proto = 1, list_type = atomic)]
    pub dry_run: Vec<String>,
    /// Name of the manager that becomes the owner of the fields.
    #[field(proto = 3)]
    pub field_manager: String,
    /// Handling of unknown and duplicate fields: `Ignore`, `Warn` or `Strict`.
    #[field(proto = 4)]
    pub field_validation: String,
}

/// Parameters of an update.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("meta.k8s.io/v1", "UpdateOptions"))]
pub struct UpdateOptions {
    /// `All` processes the request without persisting changes.
    #[field(proto = 1, list_type = atomic)]
    pub dry_run: Vec<String>,
    /// Name of the manager that becomes the owner of the fields.
    #[field(proto = 2)]
    pub field_manager: String,
    /// Handling of unknown and duplicate fields: `Ignore`, `Warn` or `Strict`.
    #[field(proto = 3)]
    pub field_validation: String,
}

/// Parameters of a patch.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("meta.k8s.io/v1", "PatchOptions"))]
pub struct PatchOptions {
    /// `All` processes the request without persisting changes.
    #[field(proto = 1, list_type = atomic)]
    pub dry_run: Vec<String>,
    /// True to take ownership of fields of other managers; only for apply.
    #[field(proto = 2)]
    pub force: Option<bool>,
    /// Name of the manager that becomes the owner of the fields; required for apply.
    #[field(proto = 3)]
    pub field_manager: String,
    /// Handling of unknown and duplicate fields: `Ignore`, `Warn` or `Strict`.
    #[field(proto = 4)]
    pub field_validation: String,
}

/// Parameters of a read.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("meta.k8s.io/v1", "GetOptions"))]
pub struct GetOptions {
    /// Minimum resource version of the response; `0` means any.
    #[field(proto = 1)]
    pub resource_version: String,
}

/// Parameters of a list or watch.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("meta.k8s.io/v1", "ListOptions"))]
pub struct ListOptions {
    /// Label selector; empty selects every object.
    #[field(proto = 1)]
    pub label_selector: String,
    /// Field selector; empty selects every object.
    #[field(proto = 2)]
    pub field_selector: String,
    /// True to stream changes instead of a list.
    #[field(proto = 3)]
    pub watch: bool,
    /// True to receive bookmarks in a watch: events that carry only the resource version that the stream has reached.
    #[field(proto = 9)]
    pub allow_watch_bookmarks: bool,
    /// Resource version to list, or to start a watch from.
    #[field(proto = 4)]
    pub resource_version: String,
    /// Interpretation of the resource version of a list: `Exact` or `NotOlderThan`.
    #[field(proto = 10, go_type = "ResourceVersionMatch")]
    pub resource_version_match: String,
    /// Timeout of the request in seconds.
    #[field(proto = 5)]
    pub timeout_seconds: Option<i64>,
    /// Maximum number of items per page; 0 means no limit.
    #[field(proto = 7)]
    pub limit: i64,
    /// Token of the next page, from the metadata of the previous one.
    #[field(proto = 8)]
    pub r#continue: String,
    /// True to start a watch with the existing objects.
    #[field(proto = 11)]
    pub send_initial_events: Option<bool>,
    /// Shard selector; empty selects the whole collection.
    #[field(proto = 15)]
    pub shard_selector: String,
}
