//! Options of a delete, from its query or its body.

use std::borrow::Cow;

use planesmith_machinery::feature::Features;
use planesmith_machinery::status::ApiResult;
use planesmith_machinery::{meta, validation};

use super::number;
use crate::features::ALLOW_UNSAFE_MALFORMED_OBJECT_DELETION;
use crate::request::Query;

/// The options of a delete.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeleteOptions {
    /// The UID that the object must have.
    pub(crate) uid: Option<String>,
    /// The resourceVersion that the object must have.
    pub(crate) resource_version: Option<String>,
    /// The deprecated choice for dependents.
    pub(crate) orphan_dependents: Option<bool>,
    /// The choice for dependents; `None` leaves it to the object or kind.
    pub(crate) propagation: Option<Propagation>,
    /// True if everything is done except for storing the result.
    pub(crate) dry_run: bool,
    /// True if the object is deleted only if it cannot be read, ignoring its finalizers.
    pub(crate) only_unreadable: bool,
    /// The options as they were sent.
    pub(crate) sent: meta::DeleteOptions,
}

/// The treatment of dependents, the objects that the deleted one owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// Dependents are deleted first.
    Foreground,
    /// Dependents are deleted later.
    Background,
    /// Dependents stay.
    Orphan,
}

impl DeleteOptions {
    /// Reads the query of a delete without a body, for a server with `features`.
    pub(crate) fn from_query(query: Query<'_>, features: &Features) -> ApiResult<Self> {
        let sent = meta::DeleteOptions {
            grace_period_seconds: number(query, "gracePeriodSeconds")?,
            orphan_dependents: query.flag("orphanDependents"),
            propagation_policy: query.first("propagationPolicy").map(Cow::into_owned),
            dry_run: query.all("dryRun").map(Cow::into_owned).collect(),
            ignore_store_read_error_with_cluster_breaking_potential: query
                .flag("ignoreStoreReadErrorWithClusterBreakingPotential"),
            preconditions: preconditions(query),
        };
        Self::new(sent, features)
    }

    /// Checks the options of a delete as they were sent, for a server with `features`.
    pub(crate) fn new(mut sent: meta::DeleteOptions, features: &Features) -> ApiResult<Self> {
        if !features.has(&ALLOW_UNSAFE_MALFORMED_OBJECT_DELETION) {
            // Treated as absent: plugins do not see it either.
            sent.ignore_store_read_error_with_cluster_breaking_potential = None;
        }
        validation::check_delete_options(&sent)?;
        let preconditions = sent.preconditions.clone().unwrap_or_default();
        Ok(Self {
            uid: preconditions.uid,
            resource_version: preconditions.resource_version,
            orphan_dependents: sent.orphan_dependents,
            propagation: match sent.propagation_policy.as_deref() {
                Some("Foreground") => Some(Propagation::Foreground),
                Some("Background") => Some(Propagation::Background),
                Some("Orphan") => Some(Propagation::Orphan),
                Some(_) | None => None,
            },
            dry_run: !sent.dry_run.is_empty(),
            only_unreadable: sent.ignore_store_read_error_with_cluster_breaking_potential == Some(true),
            sent,
        })
    }
}

/// Returns the preconditions of a query; the first value of each parameter counts, and an empty one requires nothing. The query of a
/// collection has `resourceVersion` for its list as well, and kube-apiserver takes it for both.
fn preconditions(query: Query<'_>) -> Option<meta::Preconditions> {
    let required = |name| query.first(name).filter(|value| !value.is_empty()).map(Cow::into_owned);
    let (uid, resource_version) = (required("uid"), required("resourceVersion"));
    (uid.is_some() || resource_version.is_some()).then_some(meta::Preconditions { uid, resource_version })
}
