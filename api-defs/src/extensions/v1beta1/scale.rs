//! Scale of an object in this version: its desired and its observed number of replicas.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::scale::v1::{self as newest, ScaleSpec};

use crate::apps::v1beta2::ScaleStatus;
use crate::core::v1::workload::scale_selector::{labels_of, text_of};

/// Desired and observed number of replicas of an object.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("extensions/v1beta1", "Scale"))]
pub struct Scale {
    /// Metadata of the scaled object.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired number of replicas.
    #[field(proto = 2)]
    pub spec: ScaleSpec,
    /// Observed number of replicas.
    #[field(proto = 3)]
    pub status: ScaleStatus,
}

impl From<&newest::Scale> for Scale {
    fn from(newest: &newest::Scale) -> Self {
        Self {
            metadata: newest.metadata.clone(),
            spec: newest.spec.clone(),
            status: ScaleStatus {
                replicas: newest.status.replicas,
                selector: labels_of(&newest.status.selector),
                target_selector: newest.status.selector.clone(),
            },
        }
    }
}

impl From<&Scale> for newest::Scale {
    fn from(old: &Scale) -> Self {
        Self {
            metadata: old.metadata.clone(),
            spec: old.spec.clone(),
            status: newest::ScaleStatus {
                replicas: old.status.replicas,
                selector: text_of(&old.status.target_selector, &old.status.selector),
            },
        }
    }
}
